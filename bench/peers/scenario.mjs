// What every kit is asked to do: a model that answers at once asks for one tool, step after step.
import { z } from 'zod'

export const TOOL = 'read_log'
export const DESCRIPTION = 'Reads the log of a service.'
export const QUESTION = 'Why did checkout fail at noon?'
export const ANSWER = 'A pool of connections ran dry.'

export const parameters = z.object({
  service: z.string(),
  since: z.string(),
  lines: z.number().int(),
})

/** One run: `steps` responses that ask for `calls` calls each, and then the answer. */
export function scenario(steps, calls) {
  let step = 0
  let handled = 0
  return {
    steps,
    calls,
    /** The calls of the next response; none when it is time to answer. */
    next() {
      if (step === steps) return []
      step++
      return Array.from({ length: calls }, (_, i) => ({
        id: `call_${step}_${i}`,
        args: { service: 'checkout', since: '2026-11-15T12:00:00Z', lines: step * 100 + i },
      }))
    },
    handler({ service, since, lines }) {
      handled++
      return `${since} ${service}: connection ${lines} was refused, 17 are waiting, retrying in 250 ms`
    },
    /** Throws unless every call was handled and the answer came. */
    check(answer) {
      if (handled !== steps * calls || answer !== ANSWER) {
        throw new Error(`${handled} of ${steps * calls} calls were handled; answer: ${answer}`)
      }
    },
  }
}
