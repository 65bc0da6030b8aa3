import type { pacer } from '../../spool/event-loop.ts'

/** Work in small steps: between any two of them other work may have its turn. */
export type Steps<T> = Generator<undefined, T>

/** Does all steps at once, for work that is known to be small. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Does the steps with turns of the event loop between them. */
export async function runInTurns<T>(steps: Steps<T>, pace: ReturnType<typeof pacer>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await pace()
  }
}
