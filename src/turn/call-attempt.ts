import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { JsonValue } from '../core/json.ts'
import type { ToolCallResults } from '../records/tool-call-results.ts'
import type { Artifact, SpooledArtifactConstructor } from '../spool/artifact.ts'
import type { SpoolInput } from '../spool/spool-store.ts'
import { holdErrors, isStream, letGo, stopStream } from '../spool/unread-stream.ts'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from '../tools/execution-events.ts'
import { toolShortcuts } from '../tools/tool-class.ts'
import type { ExecutionContext, ToolOutput } from '../tools/tool-context.ts'
import type { Watched } from './abort-watch.ts'
import type { AdmittedCall } from './admitted-call.ts'
import {
  type AttemptEnd,
  doubtfulEnd,
  failedEnd,
  gaveUpEnd,
  isObedience,
  NOT_STARTED,
} from './attempt-end.ts'
import { idempotencyKey } from './intent.ts'
import { linkCall, type NestedLink } from './nested-turn.ts'
import type { SecretScrubber } from './secret-scrubber.ts'
import { settleOutput } from './settle-output.ts'
import type { ResultSpool } from './small-results.ts'
import type { Turn } from './turn.ts'

/**
 * Runs a handler until it ends, its time is over or the turn is aborted. A handler that ignores its
 * signal is left behind: its late result is discarded and reported. It is the context of the execution
 * itself; what most calls never use, the signal above all, is made when it is asked for.
 */
export class CallAttempt implements ExecutionContext, Watched {
  readonly toolCallId: string
  readonly idempotencyKey: string
  readonly validated: { readonly value: unknown; readonly checksum: string }
  deadline = Number.POSITIVE_INFINITY
  declare readonly secret?: NonNullable<SecretScrubber['secret']>
  /** What a turn inside the handler told; there when the handler asked for its signal. */
  link: NestedLink | undefined
  /** False as long as nothing of the call was run. */
  hasStarted = false
  readonly #turn: Turn
  readonly #call: AdmittedCall
  readonly #timeoutMs: number
  #controller: AbortController | undefined
  /** Why the call was given up, and how it ended then. */
  #reason: DOMException | undefined
  #end: AttemptEnd | undefined
  #resolve: ((end: AttemptEnd) => void) | undefined

  constructor(turn: Turn, call: AdmittedCall) {
    const { asked, intent, tool, value } = call
    this.toolCallId = asked.id
    this.idempotencyKey = intent?.idempotencyKey ?? idempotencyKey(turn, asked.id)
    this.validated = { value, checksum: asked.request.checksum }
    this.#turn = turn
    this.#call = call
    this.#timeoutMs = tool.timeoutMs ?? turn.settings.timeoutMs
    const { secret } = turn.scrubber
    if (secret !== undefined) this.secret = secret
  }

  /** The one attempt. What need not be waited for is there at once. */
  run(): AttemptEnd | Promise<AttemptEnd> {
    if (this.#turn.signal.aborted) return NOT_STARTED
    this.hasStarted = true
    // From here on: what middleware waits for is not the handler's time.
    this.deadline = performance.now() + this.#timeoutMs
    let work: AttemptEnd | Promise<AttemptEnd>
    try {
      work = this.#work()
    } catch (error) {
      return this.#afterError(error)
    }
    // The handler may have aborted the turn itself.
    if (this.isAborted()) this.onAbort()
    if (!(work instanceof Promise)) return this.#afterResult(work)
    const pending = work
    return new Promise((resolve) => {
      this.#resolve = resolve
      if (this.#end === undefined) this.#turn.interruption.watch.add(this)
      else if (this.link?.grace === undefined) resolve(this.#end)
      pending.then(
        (end) => resolve(this.#afterResult(end)),
        (error: unknown) => resolve(this.#afterError(error)),
      )
    })
  }

  #work(): AttemptEnd | Promise<AttemptEnd> {
    const { tool, asked } = this.#call
    const output = toolShortcuts().run(tool, this, asked.request.args)
    return output instanceof Promise
      ? output.then((given) => this.#settle(given))
      : this.#settle(output)
  }

  #settle(output: ToolOutput): AttemptEnd | Promise<AttemptEnd> {
    // Nobody waits any more: whatever came is not wound onto the spool.
    if (this.isAborted()) {
      letGo(output)
      return DISCARDED
    }
    const text = typeof output === 'string' ? this.#turn.scrubber.text(output) : output
    if (typeof output === 'object' && isStream(output)) beingWound.set(this, output)
    const results = settleOutput(this.#call.tool, text, this.#spool, this)
    return results instanceof Promise ? results.then(okEnd) : okEnd(results)
  }

  #afterResult(end: AttemptEnd): AttemptEnd {
    if (this.#end === undefined) return this.#over(end)
    this.#late('what it returned was discarded')
    return this.#lateEnd(this.#end)
  }

  #afterError(error: unknown): AttemptEnd {
    if (this.#end === undefined && this.isAborted()) this.onAbort()
    this.#stop()
    if (this.#end === undefined) return this.#over(failedEnd(error, this.#turn.scrubber.text))
    if (!isObedience(error, this.#reason)) this.#late('it failed')
    return this.#lateEnd(this.#end)
  }

  /** An inner turn that was waited for has said by now what it left behind. */
  #lateEnd(end: AttemptEnd): AttemptEnd {
    clearTimeout(this.link?.grace)
    return this.link?.hasDoubts ? doubtfulEnd(this.#reason?.message ?? '') : end
  }

  #over(end: AttemptEnd): AttemptEnd {
    this.#end = end
    this.#turn.interruption.watch.delete(this)
    return end
  }

  onAbort(): void {
    this.#giveUp('aborted', 'The turn was aborted while the call ran.')
  }

  onTimeout(): void {
    const text = `The call did not end within ${this.#timeoutMs} ms and was given up.`
    this.#giveUp('timed-out', text)
  }

  #giveUp(settlement: 'timed-out' | 'aborted', text: string): void {
    if (this.#end !== undefined) return
    this.#reason = new DOMException(text, settlement === 'aborted' ? 'AbortError' : 'TimeoutError')
    const end = this.#over(gaveUpEnd(this.#call.tool, settlement, text))
    this.#controller?.abort(this.#reason)
    // Behind the signal, so that whoever hears it knows why.
    this.#stop()
    // A process that ends when its turn has ended must not cut off what an inner turn still has to write down.
    const { link } = this
    if (link?.isTurn) link.grace = setTimeout(() => this.#resolve?.(end), GRACE_MS)
    else this.#resolve?.(end)
  }

  /** Ends a stream that nobody reads to its end. */
  #stop(): void {
    stopStream(beingWound.get(this))
  }

  #late(came: string): void {
    const { observed, origin } = this.#turn
    const message = `\`${this.#call.tool.name}\` ended after its call was given up; ${came}. Pass \`ctx.signal\` on so that it can stop in time.`
    observed.emit('warning', { code: 'LATE_RESULT', message, toolCallId: this.toolCallId }, origin)
  }

  isAborted(): boolean {
    return this.#reason !== undefined || this.#turn.signal.aborted
  }

  /** The call's own signal, by which a turn inside its handler finds the turn around it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      this.link = linkCall(this.#turn, this.#controller.signal)
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
      else if (this.#turn.signal.aborted) this.onAbort()
      else if (this.#end === undefined) this.#turn.interruption.watch.add(this)
    }
    return this.#controller.signal
  }

  listens(name: 'toolExecutionStart' | 'toolExecutionEnd'): boolean {
    return this.#turn.observed.has(name)
  }

  emit(event: ToolExecutionStartEvent | ToolExecutionEndEvent): void {
    const { observed, origin } = this.#turn
    if (event.type === 'toolExecutionStart') observed.emit('toolExecutionStart', event, origin)
    else observed.emit('toolExecutionEnd', event, origin)
  }

  progress(given: JsonValue): void {
    // Whoever watches was told that the call has ended.
    if (this.#end !== undefined) return
    const { observed, origin } = this.#turn
    const update = this.#turn.scrubber.json(given)
    const { name: tool } = this.#call.tool
    observed.emit('toolProgress', { toolCallId: this.toolCallId, tool, update }, origin)
  }

  async spool(
    data: SpoolInput,
    Class: SpooledArtifactConstructor = SpooledArtifact,
  ): Promise<Artifact> {
    holdErrors(data)
    if (this.isAborted()) {
      letGo(data)
      this.signal.throwIfAborted()
    }
    const isThere = typeof data === 'string' || data instanceof Uint8Array
    try {
      const options = isThere ? undefined : { signal: this.signal }
      return new Class(await this.#spool.write(data, options))
    } catch (error) {
      // A spool may refuse what it has not begun to read, or be told to stop before it does.
      stopStream(data)
      throw error
    }
  }

  now(): number {
    return this.#turn.settings.clock.now()
  }

  /** The conversation's spool, without the secrets that the turn was given. */
  get #spool(): Pick<ResultSpool, 'write' | 'has' | 'writeNow'> & {
    clean?: SecretScrubber['json']
  } {
    const { results, scrubber } = this.#turn
    if (scrubber.secret === undefined) return results
    return {
      clean: scrubber.json,
      has: (digest) => results.has(digest),
      write: (data, options) => results.write(scrubber.data(data), options),
      writeNow: (text) => results.writeNow(scrubber.text(text)),
    }
  }
}

/**
 * The streams that handlers returned, while they are wound onto a spool, which may refuse them unread or hang. Apart
 * from their attempts, because few have one.
 */
const beingWound = new WeakMap<CallAttempt, object>()

/** How long an inner turn may take to wind itself up: its store may hang. */
const GRACE_MS = 5_000

/** Stands for a result that nobody reads: the attempt has its end already. */
const DISCARDED = NOT_STARTED

const okEnd = (results: ToolCallResults): AttemptEnd => ({ settlement: 'ok', results })
