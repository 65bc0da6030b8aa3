import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { isBobbinError } from '../../core/error/error.ts'
import { EFFECT_UNKNOWN } from '../../records/effect-unknown.ts'
import type { SpooledArtifactConstructor } from '../../spool/artifact.ts'
import type { SpoolInput } from '../../spool/spool-store.ts'
import { holdErrors, isStream, letGo, stopStream } from '../../spool/unread-stream.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { ToolExecutionStartEvent } from '../../tools/execution-events.ts'
import { PersonRequest } from '../../tools/person-request.ts'
import type { Tool } from '../../tools/tool.ts'
import { AROUND, type ExecutionContext, type TraceContext } from '../../tools/tool-context.ts'
import { mayRepeat } from '../../tools/tool-options.ts'
import type { CallLimit } from '../limits/cut-off.ts'
import { errorText } from '../limits/failure.ts'
import type { CallScope } from './call-scope.ts'
import type { InnerTurn } from './inner-turn.ts'
import { outputOf } from './output.ts'
import type { CallEnd } from './record.ts'
import { cleanError } from './secret-scrubber.ts'
import type { RunStep } from './step.ts'

/** How long an aborted inner turn may take to write its end: its store may hang. */
const GRACE_MS = 5_000

const FAILED = 'E_TOOL_DOWNSTREAM_ERROR'

/**
 * One attempt at a call: the handler runs until it ends, its time is over, or the turn is aborted. A handler that ignores
 * its signal is not awaited: its late result is discarded and reported.
 */
export class Attempt {
  /** The turn that runs inside the handler, if one does. */
  inner: InnerTurn | undefined
  /** What the handler asks a person, if it returned a question. */
  question: PersonRequest | undefined
  /** True as soon as the handler may have started. */
  hasStarted = false
  readonly #scope: CallScope
  readonly #step: RunStep
  readonly #trace: TraceContext | undefined
  #isOver = false
  #hasReturned = false
  /** The start of the execution, until its end is reported. */
  #start: ToolExecutionStartEvent | undefined
  /** The stream that the handler returned, while it is written to the spool. */
  #stream: object | undefined

  constructor(scope: CallScope, step: RunStep, trace?: TraceContext) {
    this.#scope = scope
    this.#step = step
    this.#trace = trace
  }

  async run(): Promise<CallEnd> {
    const { interruption, settings } = this.#scope
    const { tool, intent } = this.#step
    if (interruption.signal.aborted) return NOT_STARTED
    this.hasStarted = true
    // The time starts here: waiting in middleware does not count.
    const limit = interruption.limit(
      tool.timeoutMs ?? (intent.background ? Number.POSITIVE_INFINITY : settings.timeoutMs),
    )
    const work = this.#work(limit)
    try {
      // The first one counts; nothing that happens later changes the end.
      const gaveUp = await Promise.race([limit.over, work.then(nothing, nothing)])
      this.#isOver = true
      return gaveUp === undefined ? await this.#ended(work) : await this.#gaveUp(gaveUp, work)
    } finally {
      limit.clear()
    }
  }

  /** Runs the handler, then writes its output to the spool. */
  async #work(limit: CallLimit): Promise<CallEnd> {
    const { tool, call } = this.#step
    const { output: spool } = this.#scope
    const output = await tool.executor(this.#context(limit))(call.item.args)
    // The call was given up: its output is not stored.
    if (limit.isOver) {
      letGo(output)
      return NOT_STARTED
    }
    if (PersonRequest.isPersonRequest(output)) {
      this.question = output
      return WAITS
    }
    this.#hasReturned = true
    if (typeof output === 'object' && isStream(output)) this.#stream = output
    return { settlement: 'ok', ...(await outputOf(tool, output, spool, limit)) }
  }

  async #ended(work: Promise<CallEnd>): Promise<CallEnd> {
    try {
      const end = await work
      this.#tellEnd()
      return end
    } catch (error) {
      stopStream(this.#stream)
      this.#tellEnd(isBobbinError(error) ? error.code : FAILED)
      return this.#failed(error)
    }
  }

  /** The end of a call whose handler threw, or whose output cannot be stored. Observers get the error itself. */
  #failed(error: unknown): CallEnd {
    const { events, output } = this.#scope
    const { tool, call } = this.#step
    const { inner } = this
    const text = errorText(error, output.text)
    const results = new Tokenizable(isBobbinError(error) ? text : `The call failed: ${text}`)
    const end = { settlement: 'failed', results } as const
    // An inner turn that waits for a decision has not ended.
    if (inner !== undefined && inner.gates.length > 0) return end
    const thrown = isBobbinError(error, FAILED) ? error.cause : error
    const where = this.#hasReturned ? 'output' : 'handler'
    events.error(cleanError(thrown, output.text), where, call.item.id)
    if (inner?.hasDoubts) return doubtfulEnd(results.text)
    if (isBobbinError(thrown, 'E_EFFECT_UNKNOWN')) return ANSWER_LOST
    // The model must not take a call that took effect for one that did not.
    if (!this.#hasReturned || tool.effect === 'read') return end
    return {
      ...end,
      results: new Tokenizable(`The call ran, and its result cannot be stored: ${text}`),
    }
  }

  async #gaveUp(reason: DOMException, work: Promise<CallEnd>): Promise<CallEnd> {
    stopStream(this.#stream)
    this.#tellEnd(FAILED)
    const late = work.then(
      () => this.#warnLate('what it returned was discarded'),
      (error: unknown) => {
        stopStream(this.#stream)
        if (!isExpectedAbort(error, reason)) this.#warnLate('it failed')
      },
    )
    // Wait for the inner turn: a process that ends with its turn must not cut off what it still has to write.
    if (this.inner !== undefined) await within(GRACE_MS, late)
    if (this.inner?.hasDoubts) return doubtfulEnd(reason.message)
    return gaveUpEnd(this.#step.tool, reason)
  }

  /** Tells the end of the execution once: when its output is stored, or when it is given up. */
  #tellEnd(code?: string): void {
    const { events, settings } = this.#scope
    const start = this.#start
    if (start === undefined) return
    this.#start = undefined
    const end = {
      endedAt: settings.clock.now(),
      isError: code !== undefined,
      ...(code && { code }),
    }
    events.observed('toolExecutionEnd', { ...start, type: 'toolExecutionEnd', ...end })
  }

  #warnLate(came: string): void {
    const { tool, call } = this.#step
    const message = `\`${tool.name}\` ended after its call was given up; ${came}. Pass \`ctx.signal\` on so that it can stop in time.`
    const warning = { code: 'LATE_RESULT', message, toolCallId: call.item.id } as const
    this.#scope.events.warn(warning)
  }

  /** The context for the handler. */
  #context(limit: CallLimit): ExecutionContext {
    const { ctx, events, output, settings, inner } = this.#scope
    const { call, intent, tool, value, input } = this.#step
    const { id: toolCallId } = call.item
    return {
      context: ctx.context,
      get signal() {
        return limit.signal
      },
      get isAborted() {
        return limit.isOver
      },
      toolCallId,
      idempotencyKey: intent.idempotencyKey,
      validated: { value, checksum: call.checksum },
      [AROUND]: inner.site(this.#step.mayHaveRun === true, (turn) => {
        this.inner = turn
      }),
      ...(input && { input }),
      trace: this.#trace,
      ...(output.secret && { secret: output.secret }),
      now: () => settings.clock.now(),
      emit: (event) => {
        if (event.type === 'toolExecutionEnd') return
        this.#start = event
        events.observed(event.type, event)
      },
      progress: (update) => {
        // The call has ended: its progress events stop.
        if (this.#isOver) return
        const told = { toolCallId, tool: tool.name, update: output.json(update) }
        events.progress(told)
      },
      async spool(data: SpoolInput, Class: SpooledArtifactConstructor = SpooledArtifact) {
        holdErrors(data)
        try {
          limit.signal.throwIfAborted()
          return new Class(await output.write(data, limit))
        } catch (error) {
          // The spool may not have started to read the data; it must not leak.
          letGo(data)
          throw error
        }
      },
    }
  }
}

/** How middleware sees a call that asks a person. It has no record yet. */
const WAITS: CallEnd = {
  settlement: 'failed',
  results: new Tokenizable('The call waits for the answer of a person.'),
}

const nothing = () => undefined

/** Waits for work, at most `ms` milliseconds. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, over])
  clearTimeout(timer)
}

/** The end of a call when the turn was aborted before it started. */
export const NOT_STARTED: CallEnd = {
  settlement: 'aborted',
  results: new Tokenizable('The turn was aborted before the call started. It was not run.'),
}

/** The end of a call when its process died before it reported. */
export const IN_DOUBT: CallEnd = {
  settlement: 'in-doubt',
  results: new Tokenizable(
    `In doubt: the process that ran this call ended before it reported. ${EFFECT_UNKNOWN}`,
  ),
}

/** The end of a call whose handler lost the answer of the service that it called. Its own words have less trust. */
const ANSWER_LOST: CallEnd = {
  settlement: 'in-doubt',
  results: new Tokenizable(
    `In doubt: this call was sent, and the answer to it was lost. ${EFFECT_UNKNOWN}`,
  ),
}

/** The model reads it after the reason why an inner turn did not complete. */
const DOUBT_INSIDE =
  'Calls inside it took effect, or may have. Do not repeat it blindly; check first.'

/** The end of a call that was given up: in doubt when it must not repeat and did not report. */
function gaveUpEnd({ effect }: Tool, { name, message }: DOMException): CallEnd {
  if (!mayRepeat(effect)) {
    const results = new Tokenizable(`${message} ${EFFECT_UNKNOWN}`)
    return { settlement: 'in-doubt', results }
  }
  const settlement = name === 'TimeoutError' ? 'timed-out' : 'aborted'
  return { settlement, results: new Tokenizable(message) }
}

/** The end of a call whose inner turn did not complete, and whose calls took effect or may have. */
export const doubtfulEnd = (text: string): CallEnd => ({
  settlement: 'in-doubt',
  results: new Tokenizable(`${text} ${DOUBT_INSIDE}`),
})

/** A handler that stops because of the abort is not late. */
function isExpectedAbort(error: unknown, reason: unknown): boolean {
  const thrown = isBobbinError(error, FAILED) ? error.cause : error
  const name = nameOf(thrown)
  return thrown === reason || name === 'AbortError' || name === 'TimeoutError'
}

/** Any value can be thrown, even one whose `name` throws. */
function nameOf(thrown: unknown): unknown {
  try {
    return (thrown as { readonly name?: unknown } | null | undefined)?.name
  } catch {
    return undefined
  }
}
