import { canonicalStringify } from '../../src/core/json/canonical.ts'
import type { Settlement } from '../../src/records/tool-call.ts'
import type { StopCode, TurnStatus } from '../../src/turn/limits/outcome.ts'
import type { AskedCall, Manner, Settings, Step } from './program.ts'

/** What a turn that nothing disturbs comes to. */
export interface Forecast {
  readonly status: TurnStatus
  readonly code: StopCode | undefined
  /** Tool and settlement of every record, in order. */
  readonly calls: readonly string[]
}

const EFFECTS: Partial<Record<AskedCall['tool'], 'read' | 'idempotent' | 'write'>> = {
  look: 'read',
  wide: 'read',
  put: 'idempotent',
  pay: 'write',
  ask: 'write',
  alone: 'write',
  poll: 'read',
  traced: 'write',
  slow: 'read',
  slow_pay: 'write',
  agent: 'idempotent',
}

const MAX_TIME_MS = 60_000
const TICK_MS = 20_000
const RETRIES = 2

const ends = (manner: Manner): Settlement =>
  manner === 'throw' || manner === 'reject' || manner === 'bad' ? 'failed' : 'ok'

/** Whether the model below knows what comes of a turn; what it does not know is judged by what must always hold. */
export function isForeseeable(
  settings: Settings,
  steps: readonly Step[],
  scripts: readonly (readonly Step[])[],
): boolean {
  const isKnown = ({ tool, how, args, n }: AskedCall) =>
    tool !== 'artifact_head' &&
    how !== 'halt' &&
    (tool !== 'agent' || args === 'broken' || args === 'unfit' || scripts[n]?.length === 0)
  const isPlain = settings.layers.every((layer) => layer === 'pass')
  const calls = steps.flatMap((step) => (step.kind === 'calls' ? step.calls : []))
  return isPlain && settings.maxTokens === undefined && calls.every(isKnown)
}

/** The turn in a few lines: one call after the other, without a store, a clock or a promise. */
export function forecast(
  settings: Settings,
  steps: readonly Step[],
  isTaintedBefore: boolean,
): Forecast {
  const queue = [...steps]
  const calls: string[] = []
  const counts = new Map<string, number>()
  let isTainted = isTaintedBefore
  let isTaintedNext = isTainted
  let elapsedMs = 0

  const end = (status: TurnStatus, code?: StopCode): Forecast => ({ status, code, calls })

  /** How one call settles; nothing when it waits. `stop` is there when it ends the turn. */
  const settle = (call: AskedCall): { settled?: Settlement; stop?: StopCode } => {
    const { tool, n, how, args } = call
    const key = canonicalStringify([tool, args === 'text' ? 'good' : args, keyOf(call)])
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    const { refuse, stop } = settings.repeat
    if (tool !== 'poll' && count >= stop) return { settled: 'refused', stop: 'REPEATED_CALL' }
    const isRepeated = tool !== 'poll' && count >= refuse
    if (isRepeated || tool === 'nobody' || args === 'broken' || args === 'unfit') {
      return { settled: 'refused' }
    }
    const isWrite = EFFECTS[tool] === 'write' && isTainted && settings.policy !== 'open'
    const isOdd = tool === 'odd' && settings.policy === 'strict'
    const isGated = tool === 'ask' || (tool === 'poll' && n === 2) || isWrite || isOdd
    if (tool === 'wide') isTaintedNext = true
    if (isGated && settings.approve === undefined) return {}
    const isAllowed = settings.approve === 'yes' || settings.approve === 'late'
    if (isGated && !isAllowed) return { settled: settings.approve === 'edit' ? 'edited' : 'denied' }
    if (tool === 'slow') return { settled: 'timed-out' }
    if (tool === 'slow_pay') return { settled: 'in-doubt' }
    if (tool === 'agent') return { settled: 'ok' }
    if (how === 'clock') elapsedMs += TICK_MS
    return { settled: ends(how) }
  }

  for (let iteration = 1; ; iteration++) {
    // Calls of one response do not taint each other.
    isTainted = isTaintedNext
    if (iteration > settings.limits.iterations) return end('stopped', 'MAX_ITERATIONS')
    if (elapsedMs > MAX_TIME_MS) return end('stopped', 'MAX_TIME')
    let step = queue.shift()
    for (let retry = 0; step?.kind === 'transient'; retry++, step = queue.shift()) {
      if (retry === RETRIES) return end('failed', 'MODEL_FAILED')
    }
    if (step === undefined || step.kind === 'answer') return end('completed')
    if (step.kind === 'throw' || step.kind === 'garbage') return end('failed', 'EXECUTOR_FAILED')
    if (step.kind !== 'calls') continue
    let stop: StopCode | undefined
    let waits = false
    const before = calls.length
    const edited: string[] = []
    for (const [at, call] of step.calls.entries()) {
      if (before + at >= settings.limits.calls) stop ??= 'MAX_CALLS'
      const came = stop === undefined ? settle(call) : { settled: 'refused' as const }
      stop ??= 'stop' in came ? came.stop : undefined
      waits ||= came.settled === undefined
      calls.push(`${call.tool} ${came.settled ?? 'waits'}`)
      if (came.settled === 'edited') edited.push(`${call.tool} as edited`)
    }
    calls.push(...edited)
    if (stop !== undefined) return end('stopped', stop)
    if (waits) return end('suspended', 'GATE')
  }
}

/** What makes two calls the same. */
function keyOf({ tool, n, how, args }: AskedCall): unknown {
  if (args === 'broken' || args === 'unfit') return ''
  return tool === 'agent' ? n : [n, how]
}
