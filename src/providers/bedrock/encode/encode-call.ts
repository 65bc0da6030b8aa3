import type { JsonObject } from '../../../core/json/json.ts'
import type { EncodeContext, EncodeOptions } from '../../../model/wire/encode-groups.ts'
import { fitName } from '../../../model/wire/name-projection.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type { CallItem, HistoryItem, OpenCallItem, RawItem } from '../../../records/history-item.ts'
import { isServerUse } from '../decode/decode-block.ts'
import { API, type Block, ID, isTag, NAME, taggedOf } from '../wire/wire.ts'
import { pointIn } from './encode-content.ts'

const NAME_REFUSED = /[^a-zA-Z0-9_-]/g
const NAME_MAX = 64

/** A name that the wire takes for a tool. */
const toolName = (name: string) => fitName(name, NAME_REFUSED, NAME_MAX)

/** A call that the runner answers. */
export function encodeRunnerCall(call: CallItem, context: EncodeContext): readonly Block[] {
  const own = asObject(context.own(call.providerData))
  const toolUse = {
    toolUseId: context.callId(call),
    name: toolName(call.tool),
    input: call.args,
    ...asObject(own?.['extras']),
  }
  return [{ toolUse }, ...pointIn(own)]
}

/** The provider's own calls that a request holds: each goes with its result or not at all. */
export class ServerCalls {
  readonly #options: EncodeOptions
  readonly #made = new Set<string>()
  /** Results of this response that stand apart from their calls. */
  #apart = new Set<string>()
  #isLast = false

  constructor(options: EncodeOptions) {
    this.#options = options
  }

  /** A response begins. After the last one nothing comes, so that its calls may still be open. */
  begin(items: readonly HistoryItem[], isLast: boolean): void {
    this.#apart = new Set(items.flatMap((item) => (item.type === 'raw' ? answered(item) : [])))
    this.#isLast = isLast
  }

  /** True for a call with its result, here or later in the response. */
  areSendable(blocks: readonly Block[]): boolean {
    const [use, result, ...others] = blocks.map(taggedOf)
    const made = use?.tag === 'toolUse' ? asObject(use.body) : undefined
    const id = asText(made?.['toolUseId']) ?? ''
    if (use?.tag === 'toolResult' && blocks.length === 1) {
      const alone = asObject(use.body)
      return this.#options.continues === true && isAnswer(alone, asText(alone?.['toolUseId']) ?? '')
    }
    if (made === undefined || others.length > 0 || !isCallable(made) || this.#made.has(id))
      return false
    const isAnswered =
      result === undefined
        ? this.#apart.has(id) || this.#isLast
        : result.tag === 'toolResult' && isAnswer(asObject(result.body), id)
    if (isAnswered) this.#made.add(id)
    return isAnswered
  }

  /** True for the result of a call that was sent before, the first time. */
  takes(id: string): boolean {
    return this.#made.has(id) && this.#apart.delete(id)
  }

  reportUnanswered(call: OpenCallItem): void {
    const message = `\`${call.tool}\` was never answered by its provider and is sent as text.`
    this.#options.onRepair?.({ kind: 'missing-result', item: call.id, message })
  }
}

function answered({ api, value }: RawItem): readonly string[] {
  const tagged = api === API ? taggedOf(value) : undefined
  const result = tagged?.tag === 'toolResult' ? asObject(tagged.body) : undefined
  const id = asText(result?.['toolUseId'])
  return id !== undefined && isAnswer(result, id) ? [id] : []
}

function isCallable(use: JsonObject): boolean {
  const id = asText(use['toolUseId']) ?? ''
  const name = asText(use['name']) ?? ''
  return isServerUse(use) && ID.test(id) && NAME.test(name) && asObject(use['input']) !== undefined
}

function isAnswer(result: JsonObject | undefined, id: string): boolean {
  const content = result?.['content']
  if (result?.['toolUseId'] !== id || !Array.isArray(content)) return false
  if (content.length === 0) return result['status'] !== 'error'
  return content.every((block) => {
    const { tag, body } = taggedOf(block) ?? {}
    return tag === 'text' ? Boolean(asText(body)?.trim()) : tag !== undefined
  })
}

/** A block without neutral form, where it came from; elsewhere it is left out. */
export function encodeRaw(item: RawItem, context: EncodeContext, calls?: ServerCalls): Block[] {
  const block = item.api === API ? asObject(item.value) : undefined
  const tagged = taggedOf(block)
  if (block !== undefined && tagged !== undefined && isSendable(tagged.tag, tagged.body, calls)) {
    return [block]
  }
  context.leftOut('raw', `An item of \`${item.api}\` has no form here and was left out.`)
  return []
}

/** A kind that we do not know goes back as it came. One that we know is raw only where it has not its form. */
function isSendable(tag: string, body: unknown, calls: ServerCalls | undefined): boolean {
  if (tag === 'cachePoint') return asObject(body) !== undefined
  if (tag === 'toolResult')
    return calls?.takes(asText(asObject(body)?.['toolUseId']) ?? '') === true
  return tag !== '' && tag !== 'role' && tag !== 'content' && !isTag(tag)
}
