import { isBobbinError } from '../../core/error/error.ts'
import { lowerTrust } from '../../core/trust.ts'
import { isTransient } from '../../model/transient-failure.ts'
import { textCounter } from '../../prompt/count-item.ts'
import type { Summary } from '../../store/entry.ts'
import type { Cost } from '../call/inner-turn.ts'
import { type Cut, chooseCut } from '../compact/choose-cut.ts'
import {
  type Compaction,
  checkedAnswer,
  KEEP_TURNS,
  type SummaryAnswer,
  type SummaryRequest,
} from '../compact/compaction.ts'
import { summaryModels } from '../compact/model-summary.ts'
import type { ModelCallTrace } from '../events/telemetry.ts'
import { errorText } from '../limits/failure.ts'
import { costOf, priceOf } from '../limits/prices.ts'
import { pauseAfter } from './decide.ts'
import type { Turn } from './turn.ts'
import { countedUsage } from './turn-tally.ts'

/** A longer summary must be shorter than what it covers. */
const ALWAYS_TAKEN = 256
/** How much a request must grow before a summary is asked for again, after one failed. */
const GROWTH = 1.125

/**
 * Replaces the beginning of the history by a summary if the next request is too large. It is one commit: a crash leaves
 * the old history or the new one. Without a summary, the turn continues with the old history.
 */
export async function compactHistory(turn: Turn): Promise<void> {
  const { settings, request, log, compaction } = turn
  const { compact, budget } = settings
  if (compact === undefined) return
  const at = Math.min(compact.at, budget?.maxTokens ?? Number.POSITIVE_INFINITY)
  const measured = await request.measure(turn.ctx.output?.schema)
  if (measured === undefined || measured.tokens <= Math.max(at, compaction.above)) return
  const { history } = request
  const { keepTurns = KEEP_TURNS } = compact
  const { items, origins, base, summary: previous } = history
  const cut = chooseCut({
    ...measured,
    items,
    origins,
    base,
    hasSummary: previous !== undefined,
    at,
    keepTurns,
  })
  if (cut === undefined || isUnaffordable(turn, compact, cut)) return
  const answer = await ask(turn, compact, cut, previous?.text)
  if (answer === undefined) {
    compaction.above = measured.tokens * GROWTH
    return
  }
  await log.commit([{ kind: 'summary', summary: summaryOf(turn, cut, answer) }])
  request.restart()
}

interface Answer extends SummaryAnswer {
  readonly cost?: Cost
}

function summaryOf(
  turn: Turn,
  { upTo, keeps, place }: Cut,
  { text, usage, cost }: Answer,
): Summary {
  const { settings, log, visible } = turn
  const { calls, hasHandle } = visible.readable(upTo)
  const isNamed = hasHandle || calls.some((id) => text.includes(id))
  const counted = countedUsage(usage)
  return {
    id: settings.ids(),
    text,
    upTo,
    // The user's words are not the developer's.
    trust: lowerTrust(log.state.taintAt(upTo), 'first-party'),
    calls,
    ...(isNamed && { handles: true }),
    ...(keeps.length > 0 && { keeps }),
    place,
    ...(log.state.agent !== undefined && { agent: log.state.agent }),
    ...(counted && { usage: counted }),
    ...(cost?.amount !== undefined && { cost: cost.amount }),
  }
}

/** Whether the limits of the turn leave no room for a summary. */
function isUnaffordable({ tally, settings }: Turn, { summarise }: Compaction, { tokens }: Cut) {
  const prices = summaryModels(summarise).map(
    ({ model }) => priceOf(settings.prices, model)?.input ?? 0,
  )
  const cost = (tokens * Math.max(0, ...prices)) / 1_000_000
  return tally.overspent({ tokens, cost }) !== undefined
}

/** Asks for a summary, with retries. Gives undefined after the last failure, and observers get the error. */
async function ask(
  turn: Turn,
  { summarise }: Compaction,
  { items, tokens }: Cut,
  previous: string | undefined,
): Promise<Answer | undefined> {
  const { settings, ctx, events, output, interruption } = turn
  const { signal, watch } = interruption
  const request = {
    // Instructions and tools are not part of the dialogue.
    items: items.filter((item) => item.type !== 'message' || item.change === undefined),
    ...(previous !== undefined && { previous }),
    context: ctx.context,
    signal,
  }
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    const traces = tracesOf(turn, attempt)
    try {
      const asked = { ...request, ...traces.given }
      const answer = checkedAnswer(await watch.orAborted((async () => summarise(asked))()))
      for (const trace of traces.begun) trace.left()
      const cost = priceFor(turn, answer)
      turn.tally.add(answer.usage, cost)
      const text = output.text(answer.text)
      const { tokens: size } = await textCounter(settings.budget?.encoding)(text)
      if (size < tokens || size <= ALWAYS_TAKEN) return { ...answer, text, cost }
      const message = `The summary has ${size} tokens, and what it covers has ${tokens}: the history stays as it is.`
      events.warn({ code: 'COMPACTION_FAILED', message })
      return undefined
    } catch (error) {
      for (const trace of traces.begun) trace.failed(error)
      signal.throwIfAborted()
      if (attempt >= settings.retries || !mayPass(error)) {
        events.error(error, 'summarise')
        const message = `There is no summary, and the history stays as it is: ${errorText(error, output.text)}`
        events.warn({ code: 'COMPACTION_FAILED', message })
        return undefined
      }
      await watch.orAborted((async () => settings.sleep(pauseAfter(error, attempt), signal))())
    }
  }
}

/** The traces of the requests that one try makes. */
function tracesOf({ trace: turn, tally, output }: Turn, attempt: number) {
  const begun: ModelCallTrace[] = []
  if (turn === undefined) return { begun }
  const call = { iteration: tally.iteration, attempt: attempt + 1 }
  const trace: SummaryRequest['trace'] = ({ api, provider, model }) => {
    const made = turn.modelCall({ ...call, api, provider, model }, output.json)
    begun.push(made)
    return made
  }
  return { begun, given: { trace } }
}

/** Errors of the application may be anything. Those of this package say whether another try can help. */
const mayPass = (error: unknown): boolean => isTransient(error) || !isBobbinError(error)

function priceFor({ settings: { prices } }: Turn, { usage, model }: SummaryAnswer): Cost {
  const counted = countedUsage(usage)
  if (prices === undefined || counted === undefined) return {}
  const price = priceOf(prices, model ?? '')
  return price === undefined
    ? { unpriced: model ?? 'summarise' }
    : { amount: costOf(price, counted) }
}
