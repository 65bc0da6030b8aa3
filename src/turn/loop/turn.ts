import type { Note } from '../../store/entry.ts'
import type { Gate } from '../../store/gate.ts'
import type { BackgroundCalls } from '../call/background-calls.ts'
import type { CallScope } from '../call/call-scope.ts'
import type { LogEnd } from '../log/log-end.ts'
import type { Agent } from '../options/agents.ts'
import type { RunnerSettings } from '../options/runner-options.ts'
import type { PromptPrefix } from '../request/prompt-prefix.ts'
import type { TurnRequest } from '../request/turn-request.ts'
import type { VisibleCalls } from '../request/visible-calls.ts'
import type { OutputShape } from './structured-output.ts'
import type { TurnTally } from './turn-tally.ts'

/** Messages that wait for the turn that runs. */
export class Steering {
  /** Whether new messages may have come. */
  isAsked = false
  #wake = () => {}

  /** Says that new messages may have come. */
  ask(): void {
    this.isAsked = true
    this.#wake()
  }

  /** Resolves when new messages may have come. */
  asked(): Promise<void> {
    if (this.isAsked) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

/** A running turn: the scope of its calls, and what the loop needs in addition. */
export interface Turn extends CallScope {
  readonly settings: RunnerSettings
  /** The active agent, where the runner has several. */
  readonly agent: Agent | undefined
  /** The next request. */
  readonly request: TurnRequest
  /** Compares each request with the one before. */
  readonly prefix: PromptPrefix
  readonly steering: Steering
  readonly visible: VisibleCalls
  readonly compaction: {
    /** A summary failed: no other is asked for until a request has more tokens than this. */
    above: number
  }
  readonly background: BackgroundCalls
  /** Counts for the outcome. */
  readonly tally: TurnTally
  /** The shape of the answer, if one was asked for. */
  readonly answer: OutputShape | undefined
  /** Read when the conversation was opened. */
  readonly opened: {
    /** The end of its log. */
    readonly end: LogEnd
    readonly gates: readonly Gate[]
    /** The results of external calls that this process received, by gate. */
    readonly outputs?: ReadonlyMap<string, unknown> | undefined
    /** The turns that it continues, the first one first. */
    readonly chain: readonly string[]
    /** Doubts since the last turn with an end: the process may have died before its observers received them. */
    readonly doubts: readonly Note[]
    /** Why the application gave no tools or instructions. */
    readonly fault?: unknown
  }
}
