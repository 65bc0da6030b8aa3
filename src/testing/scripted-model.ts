import { BobbinError } from '../core/error/error.ts'
import { callArguments } from '../model/events/call-arguments.ts'
import type { FinishReason } from '../model/events/finish-reason.ts'
import type { ModelEvent, UnfinishedCall, Usage } from '../model/events/model-event.ts'
import type { Model, ModelCallOptions, ModelRequest } from '../model/model.ts'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import { scriptError } from './script-error.ts'

/** A piece of a scripted response, in the order in which the model says it. */
export type ScriptedPart =
  | { readonly text: string }
  | { readonly thought: string }
  /** A call; without an `id` it gets one as on a wire that has none. A string of arguments goes out verbatim. */
  | { readonly call: string; readonly args?: unknown; readonly id?: string }
  /** Anything else that a response may hold: a provider's own call, an open call, a raw item. */
  | { readonly item: HistoryItem }

/** One answer of the model, or one way to fail. */
export interface ScriptedStep {
  readonly parts?: readonly ScriptedPart[]
  /** `tools` when there are calls and `stop` otherwise, unless given. */
  readonly finish?: FinishReason
  readonly unfinished?: readonly UnfinishedCall[]
  readonly usage?: Usage
  /** Thrown after the parts were streamed, instead of a finish. */
  readonly error?: Error
  /** The stream ends after the parts without a finish. */
  readonly breaksOff?: boolean
  /** Nothing comes before this has resolved; an abort ends the wait. */
  readonly until?: Promise<unknown>
  /** Looks at the request; what it throws fails the model call. */
  readonly check?: (request: ModelRequest) => void
}

/** A model that says what its script says and remembers what it was asked. */
export interface ScriptedModel extends Model {
  readonly requests: readonly ModelRequest[]
  /** Steps that no request has used yet. */
  readonly remaining: number
  /** Throws `E_SCRIPT` when a request was unexpected or a step is left over. */
  done(): void
}

/** Plays steps in order, one for each request. */
export function scriptedModel(
  steps: readonly (ScriptedStep | readonly ScriptedPart[])[],
): ScriptedModel {
  checkSteps(steps)
  const requests: ModelRequest[] = []
  const unexpected: string[] = []
  let next = 0
  return {
    api: 'scripted',
    provider: 'bobbin',
    model: 'scripted',
    requests,
    get remaining() {
      return steps.length - next
    },
    done() {
      const left = steps.length - next
      const problems = left > 0 ? [...unexpected, `${left} steps were never asked for`] : unexpected
      if (problems.length > 0) throw scriptError('The scripted model', problems)
    },
    async *stream(request, options = {}) {
      // A copy, because the runner's list grows while the turn runs.
      requests.push({ ...request, items: [...request.items] })
      const given = steps[next++]
      if (given === undefined) {
        next = steps.length
        const problem = `request ${requests.length} came after the last of ${steps.length} steps`
        unexpected.push(problem)
        throw scriptError('The scripted model', [problem])
      }
      const step: ScriptedStep = Array.isArray(given) ? { parts: given } : (given as ScriptedStep)
      step.check?.(request)
      if (step.until !== undefined) await untilAborted(step.until, options.signal)
      yield* play(step, options)
    },
  }
}

const PARTS = ['text', 'thought', 'call', 'item']
const STEP: Readonly<Record<keyof ScriptedStep, true>> = {
  parts: true,
  finish: true,
  unfinished: true,
  usage: true,
  error: true,
  breaksOff: true,
  until: true,
  check: true,
}

/** A step that says nothing by a slip would be an empty answer, and a test that passes for nothing. */
function checkSteps(steps: unknown): void {
  const refuse = (problem: string) => {
    const message = `The script of a model cannot be played: ${problem}.`
    return new BobbinError('E_SCRIPT', message, { problems: [problem] })
  }
  if (!Array.isArray(steps)) throw refuse('its script must be a list of steps')
  for (const [index, step] of (steps as readonly unknown[]).entries()) {
    if (typeof step !== 'object' || step === null) {
      throw refuse(`step ${index + 1} must be a list of parts, such as \`[{ text: '…' }]\``)
    }
    const stray = Array.isArray(step) ? undefined : Object.keys(step).find((key) => !(key in STEP))
    if (stray !== undefined) {
      const isPart = PARTS.includes(stray)
      const wayOut = isPart ? ': put it in a list, `[{ … }]`' : ''
      throw refuse(`step ${index + 1} has \`${stray}\`, which is not a part of a step${wayOut}`)
    }
    const parts: unknown = Array.isArray(step) ? step : ((step as ScriptedStep).parts ?? [])
    const isKnown = (part: unknown) =>
      typeof part === 'object' && part !== null && PARTS.some((name) => name in part)
    if (!Array.isArray(parts) || !parts.every(isKnown)) {
      throw refuse(`the parts of step ${index + 1} must each be one of ${PARTS.join(', ')}`)
    }
  }
}

async function* play(
  step: ScriptedStep,
  options: ModelCallOptions,
): AsyncGenerator<ModelEvent, void> {
  const items: HistoryItem[] = []
  for (const [index, part] of (step.parts ?? []).entries()) {
    const key = String(index)
    if ('text' in part) {
      yield { type: 'text', key, delta: part.text }
      items.push({
        type: 'message',
        role: 'assistant',
        parts: [{ type: 'text', text: part.text }],
      })
    } else if ('thought' in part) {
      yield { type: 'thought', key, delta: part.thought }
      items.push({ type: 'thought', text: part.thought })
    } else if ('call' in part) {
      const { call: tool, args } = part
      const delta = typeof args === 'string' ? args : JSON.stringify(args ?? {})
      yield { type: 'toolInput', key, tool, delta }
      items.push(callItem(part, index, options))
    } else {
      items.push(part.item)
    }
    options.signal?.throwIfAborted()
  }
  if (step.error !== undefined) throw step.error
  if (step.breaksOff === true) return
  const isAsking = items.some(({ type }) => type === 'call')
  yield {
    type: 'finish',
    reason: step.finish ?? (isAsking ? 'tools' : 'stop'),
    items,
    unfinished: step.unfinished ?? [],
    ...(step.usage && { usage: step.usage }),
  }
}

function callItem(
  { call: tool, args, id }: Extract<ScriptedPart, { call: string }>,
  ordinal: number,
  { mint }: ModelCallOptions,
): CallItem {
  const read = callArguments(args)
  const place = { ordinal, wireType: 'call', content: JSON.stringify([tool, args ?? null]) }
  return {
    type: 'call',
    id: id ?? mint?.(place) ?? globalThis.crypto.randomUUID(),
    tool,
    ...read,
    wire: {
      provider: 'bobbin',
      api: 'scripted',
      type: 'call',
      origin: id === undefined ? 'synthetic' : 'natural',
      ...(id !== undefined && { callId: id }),
    },
    executedBy: 'runner',
  }
}

async function untilAborted(
  wait: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (signal === undefined) return wait
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([wait, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
