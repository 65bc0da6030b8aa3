;; Byte scanning 16 at a time. The caller copies bytes to offset 0 of the memory and leaves at least
;; 32 readable bytes behind whatever it asks to be scanned: loads may run past the end, answers never do.
(module
  (memory (export "memory") 6)

  ;; How many of the `len` bytes at `ptr` equal `byte`.
  (func (export "count") (param $ptr i32) (param $len i32) (param $byte i32) (result i32)
    (local $end i32) (local $stop i32) (local $total i32)
    (local $want v128) (local $lanes v128)
    (local.set $want (i8x16.splat (local.get $byte)))
    (local.set $end (i32.add (local.get $ptr) (i32.and (local.get $len) (i32.const -32))))
    (block $vectors_done
      (loop $stretch
        (br_if $vectors_done (i32.ge_u (local.get $ptr) (local.get $end)))
        ;; A lane holds 255 at most, and one turn adds 2: stop after 127 turns and sum up.
        (local.set $stop (i32.add (local.get $ptr) (i32.const 4064)))
        (if (i32.gt_u (local.get $stop) (local.get $end))
          (then (local.set $stop (local.get $end))))
        (local.set $lanes (v128.const i32x4 0 0 0 0))
        (loop $turn
          ;; An equal lane is -1, so subtracting counts it.
          (local.set $lanes (i8x16.sub (local.get $lanes)
            (i8x16.eq (v128.load (local.get $ptr)) (local.get $want))))
          (local.set $lanes (i8x16.sub (local.get $lanes)
            (i8x16.eq (v128.load offset=16 (local.get $ptr)) (local.get $want))))
          (local.set $ptr (i32.add (local.get $ptr) (i32.const 32)))
          (br_if $turn (i32.lt_u (local.get $ptr) (local.get $stop))))
        (local.set $lanes (i32x4.extadd_pairwise_i16x8_u
          (i16x8.extadd_pairwise_i8x16_u (local.get $lanes))))
        (local.set $total (i32.add (local.get $total) (i32.add
          (i32.add (i32x4.extract_lane 0 (local.get $lanes)) (i32x4.extract_lane 1 (local.get $lanes)))
          (i32.add (i32x4.extract_lane 2 (local.get $lanes)) (i32x4.extract_lane 3 (local.get $lanes))))))
        (br $stretch)))
    (local.set $end (i32.add (local.get $end) (i32.and (local.get $len) (i32.const 31))))
    (block $done
      (loop $byte_by_byte
        (br_if $done (i32.ge_u (local.get $ptr) (local.get $end)))
        (local.set $total (i32.add (local.get $total)
          (i32.eq (i32.load8_u (local.get $ptr)) (local.get $byte))))
        (local.set $ptr (i32.add (local.get $ptr) (i32.const 1)))
        (br $byte_by_byte)))
    (local.get $total))

  ;; Where the `nlen` bytes at `needle` first occur at or after `from`, ending within `len`; -1 when
  ;; nowhere. `a` and `b` are the positions of two telling bytes of the needle. `fold` is or-ed to every
  ;; byte of both sides before they are compared: 0 compares them as they are, 32 without ASCII case.
  (func (export "find")
    (param $from i32) (param $len i32) (param $needle i32) (param $nlen i32)
    (param $a i32) (param $b i32) (param $fold i32) (result i32)
    (local $last i32) (local $at i32) (local $i i32) (local $mask i32) (local $stop i32)
    (local $want_a v128) (local $want_b v128) (local $folds v128)
    (local.set $folds (i8x16.splat (local.get $fold)))
    (local.set $last (i32.sub (local.get $len) (local.get $nlen)))
    (local.set $want_a (v128.or (local.get $folds)
      (v128.load8_splat (i32.add (local.get $needle) (local.get $a)))))
    (local.set $want_b (v128.or (local.get $folds)
      (v128.load8_splat (i32.add (local.get $needle) (local.get $b)))))
    (block $nowhere
      (loop $next
        (br_if $nowhere (i32.gt_s (local.get $from) (local.get $last)))
        ;; Away from the end, 64 bytes at a time while there is no candidate in them.
        (if (i32.lt_s (i32.add (local.get $from) (i32.const 64)) (local.get $last)) (then
          (if (i32.eqz (v128.any_true (v128.or
              (v128.or
                (v128.and
                  (i8x16.eq (local.get $want_a)
                    (v128.or (v128.load (i32.add (local.get $from) (local.get $a))) (local.get $folds)))
                  (i8x16.eq (local.get $want_b)
                    (v128.or (v128.load (i32.add (local.get $from) (local.get $b))) (local.get $folds))))
                (v128.and
                  (i8x16.eq (local.get $want_a)
                    (v128.or (v128.load offset=16 (i32.add (local.get $from) (local.get $a))) (local.get $folds)))
                  (i8x16.eq (local.get $want_b)
                    (v128.or (v128.load offset=16 (i32.add (local.get $from) (local.get $b))) (local.get $folds)))))
              (v128.or
                (v128.and
                  (i8x16.eq (local.get $want_a)
                    (v128.or (v128.load offset=32 (i32.add (local.get $from) (local.get $a))) (local.get $folds)))
                  (i8x16.eq (local.get $want_b)
                    (v128.or (v128.load offset=32 (i32.add (local.get $from) (local.get $b))) (local.get $folds))))
                (v128.and
                  (i8x16.eq (local.get $want_a)
                    (v128.or (v128.load offset=48 (i32.add (local.get $from) (local.get $a))) (local.get $folds)))
                  (i8x16.eq (local.get $want_b)
                    (v128.or (v128.load offset=48 (i32.add (local.get $from) (local.get $b))) (local.get $folds))))))))
            (then
              (local.set $from (i32.add (local.get $from) (i32.const 64)))
              (br $next)))))
        (local.set $stop (i32.add (local.get $from) (i32.const 64)))
        (loop $step
          (local.set $mask (i8x16.bitmask (v128.and
            (i8x16.eq (local.get $want_a)
              (v128.or (v128.load (i32.add (local.get $from) (local.get $a))) (local.get $folds)))
            (i8x16.eq (local.get $want_b)
              (v128.or (v128.load (i32.add (local.get $from) (local.get $b))) (local.get $folds))))))
          (block $no_more
            (loop $candidate
              (br_if $no_more (i32.eqz (local.get $mask)))
              (local.set $at (i32.add (local.get $from) (i32.ctz (local.get $mask))))
              (br_if $nowhere (i32.gt_s (local.get $at) (local.get $last)))
              (local.set $i (i32.const 0))
              (block $differs
                (loop $compare
                  (if (i32.eq (local.get $i) (local.get $nlen)) (then (return (local.get $at))))
                  (br_if $differs (i32.ne
                    (i32.or (local.get $fold) (i32.load8_u (i32.add (local.get $at) (local.get $i))))
                    (i32.or (local.get $fold) (i32.load8_u (i32.add (local.get $needle) (local.get $i))))))
                  (local.set $i (i32.add (local.get $i) (i32.const 1)))
                  (br $compare)))
              (local.set $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))
              (br $candidate)))
          (local.set $from (i32.add (local.get $from) (i32.const 16)))
          (br_if $nowhere (i32.gt_s (local.get $from) (local.get $last)))
          (br_if $step (i32.lt_s (local.get $from) (local.get $stop))))
        (br $next)))
    (i32.const -1)))
