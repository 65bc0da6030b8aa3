import { canonicalStringify } from '../../core/json/canonical.ts'
import type { SentRequest } from '../../model/model.ts'
import { digestOfPieces, type PromptPieces, shortDigest } from '../../model/prompt-pieces.ts'
import type { ToolDefinition } from '../../model/tool-definition.ts'
import { type BreakCause, CALL_NOTE, type ModelCall, type StoredPrefix } from '../../store/entry.ts'
import { agentIn, type Fact } from '../log/fact.ts'

/** What a request is made of, as far as it explains a break. */
export interface PrefixSource {
  /** The tools of the runner, without those that read handles. */
  readonly tools: readonly ToolDefinition[]
  readonly instructions: string
  /** Whether the budget has taken something out since the request before. */
  readonly isShed: boolean
}

type Checkpoint = Pick<StoredPrefix, 'length' | 'digest'>
type Broken = NonNullable<StoredPrefix['broken']>

/** How many earlier requests are remembered to find the place of a break. */
const CHECKPOINTS = 16

/** What may change the parts of a prompt. */
const TAKEN_OUT: readonly BreakCause[] = ['budget', 'compaction', 'rewind', 'hand-over', 'model']
const EXPLAINS = {
  model: ['model'],
  tools: [...TAKEN_OUT, 'handle', 'tools'],
  // A tool that cannot be taken back at the end lets the request begin anew, with all that was appended before.
  instructions: [...TAKEN_OUT, 'instructions', 'tools'],
  history: [...TAKEN_OUT, 'edit', 'instructions', 'tools'],
} as const satisfies Record<string, readonly BreakCause[]>

/**
 * Compares each request with the one before, as the provider gets it. Providers cache what stands at the beginning, and
 * some bind reasoning to it. It follows the log, so that a restarted process compares as the first one would.
 */
export class PromptPrefix {
  /** The last request, if its response was still in flight and its provider keeps that. */
  inFlight: ModelCall | undefined
  #last: StoredPrefix | undefined
  /** The last request that did not fail. */
  #kept: StoredPrefix | undefined
  readonly #checkpoints: Checkpoint[] = []
  /** The events since the last request. */
  readonly #causes = new Set<BreakCause>()
  readonly #theirGates = new Set<string>()

  apply(facts: readonly Fact[]): void {
    for (const fact of facts) {
      switch (fact.kind) {
        case 'model-call':
          this.inFlight = fact.modelCall.continuation === undefined ? undefined : fact.modelCall
          if (fact.modelCall.error !== undefined) this.#forget(fact.modelCall)
          else if (fact.modelCall.prefix !== undefined) {
            this.#kept = fact.modelCall.prefix
            this.#remember(fact.modelCall.prefix)
            this.#causes.clear()
          }
          break
        case 'summary':
          this.#causes.add('compaction')
          break
        case 'settlement':
          if (fact.record.supersedes !== undefined) this.#causes.add('edit')
          break
        case 'note':
          if (fact.note.code === CALL_NOTE) this.#causes.add('edit')
          if (agentIn(fact.note) !== undefined) this.#causes.add('hand-over')
          break
        case 'rewind':
          this.#causes.add('rewind')
          // A person who asks again wants another response.
          this.inFlight = undefined
          break
        case 'gate-opened':
          if (fact.gate.from === 'provider') this.#theirGates.add(fact.gate.id)
          break
        case 'gate-closed':
          if (this.#theirGates.delete(fact.closing.id)) this.#causes.add('edit')
          break
        default:
      }
    }
  }

  /** What the log says of the prompt of this request; undefined if the protocol does not tell where it is. */
  next(sent: SentRequest, source: PrefixSource): StoredPrefix | undefined {
    const { prompt } = sent
    if (prompt === undefined) return undefined
    const { length } = prompt.pieces
    const prefix = {
      model: digestOf([sent.api, sent.provider, sent.model]),
      settings: digestOf([sent.adapter, { ...sent.settings, compareWith: undefined }]),
      tools: toolsDigest(source.tools),
      instructions: shortDigest(source.instructions),
      head: prompt.head,
      length,
      digest: digestOfPieces(prompt.pieces, length),
    }
    const broken = this.#last && this.#broken(this.#last, prefix, prompt, source)
    this.#remember(prefix)
    return broken === undefined ? prefix : { ...prefix, broken }
  }

  /** What a request added is stored with its response. One that failed leaves nothing that the next one begins with. */
  #forget({ prefix, shed }: ModelCall): void {
    if (shed !== undefined) this.#causes.add('budget')
    for (const cause of prefix?.broken?.causes ?? []) this.#causes.add(cause)
    this.#last = this.#kept
  }

  #remember(prefix: StoredPrefix): void {
    const { length, digest } = prefix
    this.#last = prefix
    if (this.#checkpoints.at(-1)?.digest === digest) return
    this.#checkpoints.push({ length, digest })
    if (this.#checkpoints.length > CHECKPOINTS) this.#checkpoints.shift()
  }

  #broken(
    last: StoredPrefix,
    prefix: StoredPrefix,
    prompt: PromptPieces,
    { isShed }: PrefixSource,
  ): Broken | undefined {
    const part = changedPart(last, prefix, prompt)
    if (part === undefined) return undefined
    const causes = new Set(this.#causes)
    if (isShed) causes.add('budget')
    if (last.model !== prefix.model || last.settings !== prefix.settings) causes.add('model')
    if (last.instructions !== prefix.instructions) causes.add('instructions')
    // The runner adds only the tools that read handles.
    causes.add(last.tools === prefix.tools ? 'handle' : 'tools')
    const explains: readonly BreakCause[] = EXPLAINS[part]
    const found = explains.filter((cause) => causes.has(cause)).toSorted()
    return { at: this.#nameOf(part, prompt), causes: found }
  }

  /** The name of a part; in the history the first message that no earlier request shows to be as it was. */
  #nameOf(part: keyof typeof EXPLAINS, { names, member, pieces, places }: PromptPieces): string {
    if (part === 'model') return part
    if (part !== 'history') return names[part] ?? part
    const intact = this.#checkpoints.findLast((checkpoint) => isIntact(checkpoint, pieces))
    return `${member}[${places[intact?.length ?? 0] ?? (places.at(-1) ?? -1) + 1}]`
  }
}

/** In the order in which a model reads them. */
function changedPart(
  { model, head, length, digest }: StoredPrefix,
  now: StoredPrefix,
  { pieces }: PromptPieces,
): keyof typeof EXPLAINS | undefined {
  if (model !== now.model) return 'model'
  if (head.tools !== now.head.tools) return 'tools'
  if (head.instructions !== now.head.instructions) return 'instructions'
  return isIntact({ length, digest }, pieces) ? undefined : 'history'
}

const isIntact = ({ length, digest }: Checkpoint, pieces: readonly string[]): boolean =>
  length <= pieces.length && digest === digestOfPieces(pieces, length)

const toolDigests = new WeakMap<readonly ToolDefinition[], string>()

function toolsDigest(tools: readonly ToolDefinition[]): string {
  let known = toolDigests.get(tools)
  if (known === undefined) toolDigests.set(tools, (known = digestOf(tools)))
  return known
}

/** Settings may hold what is not JSON. */
function digestOf(value: unknown): string {
  try {
    return shortDigest(canonicalStringify(JSON.parse(JSON.stringify(value))))
  } catch {
    return ''
  }
}

/** The warning about an unexplained break. */
export const brokenText = ({ at }: Broken): string =>
  `\`${at}\` of this request, or something after it, has changed since the previous request, and no known cause explains it. The provider reads less from its cache. Look for text that is different each time, such as a date.`

/** Whether nothing explains a break. */
export const isUnexplained = (broken: Broken | undefined): broken is Broken =>
  broken?.causes.length === 0
