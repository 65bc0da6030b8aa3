import { forgeTools } from '../../artifacts/forge-tools.ts'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../artifacts/spooled-json-artifact.ts'
import { openedBy } from '../../artifacts/spooled-link.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import { type Artifact, isArtifact } from '../../spool/artifact.ts'
import type { Summary } from '../../store/entry.ts'
import type { Tool } from '../../tools/tool.ts'
import { ToolRegistry } from '../../tools/tool-registry.ts'
import { shownId } from '../log/call-state.ts'
import type { Fact } from '../log/fact.ts'
import { holdsArtifacts } from '../log/log-state.ts'

/** How many of the newest calls a request offers to artifact tools. */
const VISIBLE_CALLS = 64

/** Calls before a summary took some of them out of requests. */
interface Uncut {
  readonly shown: readonly ToolCall[]
  readonly artifacts: readonly ToolCall[]
  readonly places: Map<string, number>
  readonly given: Map<string, readonly unknown[]>
  readonly handles: readonly string[]
}

/**
 * The settled calls that requests show, and the tools to read their results. Providers cache and bind what stands at the
 * beginning of a request, so these tools stay the same: they do not name the calls.
 */
export class VisibleCalls {
  /** The calls whose results are shown as handles. */
  readonly #handles = new Set<string>()
  #shown: ToolCall[] = []
  #artifacts: ToolCall[] = []
  #places = new Map<string, number>()
  readonly #hidden = new Set<string>()
  /** The entries of the messages of users. */
  readonly #messages = new Map<string, number>()
  readonly #rewound = new Set<string>()
  /** What requests showed before a summary cut through the turn of the last message. */
  #uncut: Uncut | undefined
  #own = new ToolRegistry()
  /** Whether some tool may give a handle: then there are tools to read one from the first request on. */
  #mayGiveHandles = false
  /** The classes that handles may have. */
  #offered = new Set<unknown>()
  /** The classes of results that were handles, by call; some may have been dropped since. */
  #given = new Map<string, readonly unknown[]>()
  /** All of these, in the order in which they came: the tools are in this order too. */
  #classes = new Set<unknown>([SpooledArtifact])
  #forged: ToolRegistry | undefined

  /** The tools of the runner. Which ones it has may depend on what the log says. */
  offer(own: ToolRegistry, artifacts: readonly unknown[] = []): void {
    const givers = own.list.filter(({ inline }) => inline !== true)
    this.#own = own
    this.#mayGiveHandles = givers.length > 0
    this.#offered = new Set(this.#mayGiveHandles ? [...givers.map(classOf), ...artifacts] : [])
    this.#gather()
  }

  #gather(): void {
    const given = [...this.#given.values()].flat()
    this.#classes = new Set([SpooledArtifact, ...this.#offered, ...given])
    this.#forged = undefined
  }

  apply(facts: readonly Fact[], seq: number): void {
    for (const [at, fact] of facts.entries()) {
      if (fact.kind === 'settlement') this.#add(fact.record, seq + at)
      else if (fact.kind === 'call') this.#placeOf(fact.call.item.id, seq + at)
      else if (fact.kind === 'item') this.#placeOf(fact.id, seq + at)
      else if (fact.kind === 'summary') this.#summarise(fact.summary)
      else if (fact.kind === 'rewind') this.#rewind(fact.rewind.message)
      else if (fact.kind === 'message' && fact.message.role === 'user') {
        this.#messages.set(fact.message.id, seq + at)
        this.#uncut = undefined
      }
    }
  }

  /** The entry in which a call was asked for. Imported calls have that of their record. */
  #placeOf(id: string, seq: number): number {
    const known = this.#places.get(id)
    if (known !== undefined) return known
    this.#places.set(id, seq)
    return seq
  }

  /** Requests no longer show the calls that a summary covers. Artifact tools still read those that it lists. */
  #summarise({ upTo, calls, handles, keeps = [] }: Summary): void {
    const listed = new Set(calls)
    const last = [...this.#messages.values()].at(-1) ?? 0
    if (last > 0 && last <= upTo) {
      const [shown, artifacts] = [this.#shown, this.#artifacts]
      const [places, given] = [new Map(this.#places), new Map(this.#given)]
      this.#uncut ??= { shown, artifacts, places, given, handles: [...this.#handles] }
    }
    for (const [id, seq] of this.#messages) {
      if (seq <= upTo && !keeps.includes(seq)) this.#messages.delete(id)
    }
    const isCovered = (call: ToolCall) => this.#placeOf(shownId(call), 0) <= upTo
    this.#shown = this.#shown.filter((call) => !isCovered(call))
    this.#artifacts = this.#artifacts.filter((call) => !isCovered(call) || listed.has(call.id))
    const readable = new Set(this.#artifacts.filter(isCovered).map(shownId))
    for (const [id, seq] of this.#places) {
      if (seq > upTo) continue
      if (!readable.has(id)) this.#places.delete(id)
      this.#handles.delete(id)
    }
    if (handles) for (const id of readable) this.showHandle(id)
  }

  /** The calls up to an entry whose results artifact tools can read, and whether a request shows one as a handle. */
  readable(upTo: number): { readonly calls: readonly string[]; readonly hasHandle: boolean } {
    const covered = this.#artifacts.filter((call) => this.#placeOf(shownId(call), 0) <= upTo)
    const hasHandle = covered.some((call) => this.#handles.has(shownId(call)))
    return { calls: covered.map(({ id }) => id), hasHandle }
  }

  /** Calls that run side by side settle in any order. */
  #insert(calls: ToolCall[], record: ToolCall): void {
    const place = this.#placeOf(shownId(record), 0)
    const isBefore = (call: ToolCall) => this.#placeOf(shownId(call), 0) <= place
    calls.splice(calls.findLastIndex(isBefore) + 1, 0, record)
    if (calls.length > VISIBLE_CALLS) calls.shift()
  }

  #add(record: ToolCall, seq: number): void {
    if (this.#hidden.has(shownId(record)) || record.undoes !== undefined) return
    this.#placeOf(shownId(record), seq)
    this.#insert(this.#shown, record)
    // Answers of artifact tools do not count, so that a long search never pushes out its own subject.
    if (!holdsArtifacts(record) || record.fromArtifactTool) return
    this.#insert(this.#artifacts, record)
  }

  /** Requests show the result of this call as a handle: the model needs tools to read it. */
  showHandle(id: string): void {
    if (this.#rewound.has(id)) return
    this.#handles.add(id)
    const record = this.#artifacts.find((call) => shownId(call) === id)
    if (record === undefined) return
    const classes = classesIn(record)
    this.#given.set(id, classes)
    if (classes.some((Class) => !this.#classes.has(Class))) this.#gather()
  }

  /** The calls since a message no longer count: the tools are those that a new process would offer. */
  #rewind(message: string): void {
    const from = this.#messages.get(message)
    if (from === undefined) return
    if (this.#uncut !== undefined) this.#uncover(this.#uncut)
    const ids = [...this.#places].flatMap(([id, seq]) => (seq >= from ? [id] : []))
    this.hide(ids)
    for (const id of ids) {
      this.#rewound.add(id)
      this.#given.delete(id)
    }
    for (const [id, seq] of this.#messages) if (seq >= from) this.#messages.delete(id)
    this.#gather()
  }

  #uncover({ shown, artifacts, places, given, handles }: Uncut): void {
    this.#shown = [...shown]
    this.#artifacts = [...artifacts]
    this.#places = places
    this.#given = given
    this.#handles.clear()
    for (const id of handles) this.#handles.add(id)
    this.#uncut = undefined
  }

  /** The tools of the runner, without those that read handles. */
  get own(): ToolRegistry {
    return this.#own
  }

  /** In the order asked. A copy: the caller may sort or cut it. */
  get calls(): readonly ToolCall[] {
    return [...this.#shown]
  }

  /** Requests no longer show these calls. Their stored results stay. */
  hide(ids: readonly string[]): void {
    if (ids.length === 0) return
    for (const id of ids) {
      this.#hidden.add(id)
      this.#handles.delete(id)
    }
    const isShown = (call: ToolCall) => !this.#hidden.has(shownId(call))
    this.#shown = this.#shown.filter(isShown)
    this.#artifacts = this.#artifacts.filter(isShown)
  }

  /** The tools on offer: the runner's own, and artifact tools if something is or may be shown as a handle. */
  get tools(): ToolRegistry {
    if (!this.#mayGiveHandles && this.#handles.size === 0) return this.#own
    this.#forged ??= this.#forge()
    return this.#forged
  }

  /** A link is opened by the tool that gave it, as long as that is on offer. */
  readonly #open = async (callId: string, artifact: Artifact, signal: AbortSignal) => {
    const tool = this.#artifacts.find(({ id }) => id === callId)?.tool
    return openedBy(tool && this.#own.get(tool), artifact, signal)
  }

  #forge(): ToolRegistry {
    const calls = () => this.#artifacts[Symbol.iterator]()
    const forged = forgeTools(
      { turnToolCalls: { [Symbol.iterator]: calls } },
      { classes: this.#classes, fits: () => true, open: this.#open },
    )
    const tools = new ToolRegistry(this.#own).merge(forged)
    Object.freeze(tools)
    return tools
  }
}

/** The class of a tool's results; text or JSON unless it names one. */
const classOf = ({ artifactConstructor }: Tool): unknown =>
  artifactConstructor?.() ?? SpooledJsonArtifact

const classesIn = ({ results }: ToolCall): readonly unknown[] =>
  [results].flat().flatMap((each) => (isArtifact(each) ? each.constructor : []))
