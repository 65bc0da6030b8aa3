import { atLeast, type OptionTable } from '../../core/options.ts'

/** At which count of identical calls the guard acts. `Infinity` turns a step off. */
export interface RepeatLimits {
  /** From this count on, the model reads a hint with the result; 3 unless given. */
  readonly hint?: number
  /** From this count on, the call is refused; 5 unless given. */
  readonly refuse?: number
  /** At this count, the turn stops; 8 unless given. */
  readonly stop?: number
}

export const REPEAT_LIMITS = {
  hint: atLeast(1, 3),
  refuse: atLeast(1, 5),
  stop: atLeast(1, 8),
} satisfies OptionTable<RepeatLimits>

/** The guard's verdict on a call before it runs. */
export type RepeatVerdict = 'run' | 'hint' | 'refuse' | 'stop'

/** Counts the identical calls of one turn by checksum, including those that are running. */
export class RepeatGuard {
  readonly #counts = new Map<string, number>()
  readonly #limits: Required<RepeatLimits>

  constructor(limits: Required<RepeatLimits>) {
    this.#limits = limits
  }

  /** How many calls with this checksum the turn has seen. */
  count(checksum: string): number {
    return this.#counts.get(checksum) ?? 0
  }

  /** Counts a call that was judged before a wait or a crash: for the model it is still the same turn. */
  recall(checksum: string): void {
    this.#counts.set(checksum, this.count(checksum) + 1)
  }

  /** Counts a call and judges it before it runs. An exempt tool is counted and always runs. */
  judge(checksum: string, isExempt: boolean): RepeatVerdict {
    const count = this.count(checksum) + 1
    this.#counts.set(checksum, count)
    if (isExempt) return 'run'
    if (count >= this.#limits.stop) return 'stop'
    if (count >= this.#limits.refuse) return 'refuse'
    return count >= this.#limits.hint ? 'hint' : 'run'
  }
}

/** The hint that the model reads with the result. It never repeats the arguments. */
export function repeatHint(count: number): string {
  return `You have made this identical call ${count} times in this turn; its result does not change. Use what you have, or try something else.`
}

export function repeatRefusal(count: number): string {
  return `Refused: this identical call was made ${count} times in this turn. It was not run again. Change the arguments, use another tool, or answer with what you have.`
}
