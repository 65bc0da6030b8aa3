/**
 * What goes wrong while an answer is sent. `at` counts the events that went out well before it; a
 * whole body counts as one event. `byte` lets that many bytes of the next event out too.
 *
 * - `cut`: the body ends early, as if it were complete
 * - `reset`: the connection is torn down
 * - `stall`: nothing more comes, for `ms` or, without it, until either side hangs up
 * - `duplicate`: event `at` comes twice
 * - `reorder`: event `at` and the next one change places
 * - `corrupt`: the data of event `at` loses its second half
 * - `invalid-utf8`: a byte that no UTF-8 text holds lands in event `at`
 * - `error`: the protocol's error event comes, and then the end
 */
export type LoopbackFault =
  | { readonly type: 'cut' | 'reset'; readonly at: number; readonly byte?: number }
  | { readonly type: 'stall'; readonly at: number; readonly byte?: number; readonly ms?: number }
  | { readonly type: 'duplicate' | 'reorder' | 'corrupt' | 'invalid-utf8'; readonly at: number }
  | { readonly type: 'error'; readonly at: number; readonly status: number }

/** One thing that the server does while it answers. */
export type SendStep =
  | { readonly type: 'write'; readonly bytes: Uint8Array }
  | { readonly type: 'pause'; readonly ms: number }
  | { readonly type: 'reset' | 'hang' }

const write = (bytes: Uint8Array): SendStep => ({ type: 'write', bytes })

/** The frames of an answer as steps, with the fault worked in. Nothing after the steps but the end. */
export function sendSteps(
  frames: readonly Uint8Array[],
  fault: LoopbackFault | undefined,
  errorFrame: (status: number) => Uint8Array,
): readonly SendStep[] {
  if (fault === undefined) return frames.map(write)
  const { at } = fault
  const before = frames.slice(0, at).map(write)
  const rest = frames.slice(at)
  const [hit, next, ...after] = rest
  switch (fault.type) {
    case 'cut':
      return [...before, ...firstBytes(hit, fault.byte)]
    case 'reset':
      return [...before, ...firstBytes(hit, fault.byte), { type: 'reset' }]
    case 'stall': {
      const sent = fault.byte ?? 0
      const opening = [...before, ...firstBytes(hit, sent)]
      if (fault.ms === undefined) return [...opening, { type: 'hang' }]
      const closing = rest.map((frame, index) => write(index === 0 ? frame.subarray(sent) : frame))
      return [...opening, { type: 'pause', ms: fault.ms }, ...closing]
    }
    case 'error':
      return [...before, write(errorFrame(fault.status))]
    case 'duplicate':
      return [...before, ...(hit === undefined ? [] : [write(hit)]), ...rest.map(write)]
    case 'reorder':
      if (hit === undefined || next === undefined) return frames.map(write)
      return [...before, ...[next, hit, ...after].map(write)]
    case 'corrupt':
      return [...before, ...[...onHit(hit, corrupted), ...rest.slice(1)].map(write)]
    default:
      return [...before, ...[...onHit(hit, withInvalidByte), ...rest.slice(1)].map(write)]
  }
}

/** The same bytes in pieces of `size`, whatever the events are; the order of all steps is kept. */
export function rechunked(steps: readonly SendStep[], size: number): readonly SendStep[] {
  const chunks: SendStep[] = []
  let pending: Uint8Array[] = []
  const flush = () => {
    const bytes = Buffer.concat(pending)
    for (let at = 0; at < bytes.length; at += size)
      chunks.push(write(bytes.subarray(at, at + size)))
    pending = []
  }
  for (const step of steps) {
    if (step.type === 'write') {
      pending.push(step.bytes)
    } else {
      flush()
      chunks.push(step)
    }
  }
  flush()
  return chunks
}

function firstBytes(frame: Uint8Array | undefined, count = 0): readonly SendStep[] {
  return frame === undefined || count === 0 ? [] : [write(frame.subarray(0, count))]
}

function onHit(
  frame: Uint8Array | undefined,
  change: (frame: Uint8Array) => Uint8Array,
): readonly Uint8Array[] {
  return frame === undefined ? [] : [change(frame)]
}

// The framing stays whole: what breaks is the event, not the stream.
function corrupted(frame: Uint8Array): Uint8Array {
  const text = Buffer.from(frame).toString('utf8')
  const end = text.trimEnd().length
  return Buffer.from(text.slice(0, Math.ceil(end / 2)) + text.slice(end))
}

function withInvalidByte(frame: Uint8Array): Uint8Array {
  const middle = frame.length >> 1
  return Buffer.concat([frame.subarray(0, middle), Buffer.of(0xff), frame.subarray(middle)])
}
