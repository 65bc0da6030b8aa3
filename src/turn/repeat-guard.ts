/** From which count of identical calls on the guard hints, refuses, and stops the turn. */
export interface RepeatLimits {
  readonly hint: number
  readonly refuse: number
  readonly stop: number
}

export const REPEAT_LIMITS: RepeatLimits = { hint: 3, refuse: 5, stop: 8 }

/** What the guard says before a call runs. */
export type RepeatVerdict = 'run' | 'hint' | 'refuse' | 'stop'

/** Counts the identical calls of one turn by checksum, those in flight included. */
export class RepeatGuard {
  readonly #counts = new Map<string, number>()
  readonly #limits: RepeatLimits

  constructor(limits: RepeatLimits = REPEAT_LIMITS) {
    this.#limits = limits
  }

  /** How many calls with this checksum the turn has seen. */
  count(checksum: string): number {
    return this.#counts.get(checksum) ?? 0
  }

  /** Counts a call that was judged before: what goes on after a wait, or a crash, is the same turn to the model. */
  recall(checksum: string): void {
    this.#counts.set(checksum, this.count(checksum) + 1)
  }

  /** Counts one more call and judges it before it runs; an exempt tool is counted and never judged. */
  judge(checksum: string, isExempt: boolean): RepeatVerdict {
    const count = this.count(checksum) + 1
    this.#counts.set(checksum, count)
    if (isExempt) return 'run'
    if (count >= this.#limits.stop) return 'stop'
    if (count >= this.#limits.refuse) return 'refuse'
    return count >= this.#limits.hint ? 'hint' : 'run'
  }
}

/** What the model reads with a result it has asked for too often. The arguments are never echoed. */
export function repeatHint(count: number): string {
  return `You have made this identical call ${count} times in this turn; its result does not change. Use what you have, or try something else.`
}

export function repeatRefusal(count: number): string {
  return `Refused: this identical call was made ${count} times in this turn. It was not run again. Change the arguments, use another tool, or answer with what you have.`
}
