import type Anthropic from '@anthropic-ai/sdk'
import type { EncodeContext, EncodeOptions } from '../../../model/wire/encode-groups.ts'
import { foreignCallText } from '../../../model/wire/foreign-text.ts'
import { fitName } from '../../../model/wire/name-projection.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import type { CallItem, OpenCallItem, RawItem } from '../../../records/history-item.ts'
import {
  CLIENT_ID,
  codeCaller,
  isServerResult,
  isServerUse,
  SERVER_ID,
  SERVER_TOOLS,
} from '../wire/server-tools.ts'
import { API, type Block, type BlockParam } from '../wire/wire.ts'

type ToolUse = Anthropic.Beta.BetaToolUseBlockParam

// In a history a name may hold any character; only its length is limited.
const NO_CHARACTER = /[^\s\S]/g
const NAME_MAX = 200

/** The provider's own calls that a request holds: a result or a call made from code needs its caller. */
export class ServerCalls {
  readonly options: EncodeOptions
  /** Calls still without a result, each with the item that made it. */
  readonly open = new Map<string, CallItem | OpenCallItem>()
  readonly #made = new Set<string>()
  readonly #answered = new Set<string>()

  constructor(options: EncodeOptions) {
    this.options = options
  }

  /** False when another item used this id before. */
  make(id: string, item: CallItem | OpenCallItem): boolean {
    if (this.#made.has(id)) return false
    this.#made.add(id)
    this.open.set(id, item)
    return true
  }

  /** False when there is no such call, or when it was answered before. */
  answer(id: string): boolean {
    if (!this.isMade(id) && this.options.continues !== true) return false
    if (this.#answered.has(id)) return false
    this.#answered.add(id)
    this.open.delete(id)
    return true
  }

  isMade(id: string): boolean {
    return this.#made.has(id)
  }

  reportUnanswered(call: CallItem | OpenCallItem): void {
    const message = `\`${call.tool}\` was never answered by its provider and is sent as text.`
    this.options.onRepair?.({ kind: 'missing-result', item: call.id, message })
  }
}

/** A call that the runner answers. The wire takes any id of its charset, also one that we made. */
export function encodeRunnerCall(
  call: CallItem,
  context: EncodeContext,
  calls: ServerCalls,
): ToolUse {
  const { name, caller, container: _, ...own } = asObject(context.own(call.providerData)) ?? {}
  return {
    type: 'tool_use',
    id: context.callId(call),
    name: fitName(asText(name) ?? call.tool, NO_CHARACTER, NAME_MAX),
    input: call.args,
    ...(caller !== undefined &&
      isTied({ caller }, calls) && { caller: caller as unknown as ToolUse['caller'] & {} }),
    ...own,
  }
}

/** A call that a provider ran: its own blocks if this provider ran it, otherwise a text about it. */
export function encodeServerCall(
  call: CallItem | OpenCallItem,
  context: EncodeContext,
  calls: ServerCalls,
): readonly BlockParam[] {
  const blocks = context.rawItems(call)?.map((item) => asObject(item) ?? {})
  if (blocks === undefined || !areSendable(blocks, call, calls)) {
    return [{ type: 'text', text: foreignCallText(call) }]
  }
  return blocks as unknown as BlockParam[]
}

/** A block without neutral form, where it came from; elsewhere it is left out. */
export function encodeRaw(
  item: RawItem,
  context: EncodeContext,
  calls?: ServerCalls,
): BlockParam[] {
  const block = item.api === API ? asObject(item.value) : undefined
  if (block !== undefined && isSendableRaw(block, calls)) {
    return [block as unknown as BlockParam]
  }
  context.leftOut('raw', `An item of \`${item.api}\` has no form here and was left out.`)
  return []
}

function isSendableRaw(block: Block, calls: ServerCalls | undefined): boolean {
  const type = asText(block['type'])
  if (!type || type === 'tool_result' || type === 'tool_use') return false
  if (isServerResult(type)) return calls !== undefined && isSendableResult(block, calls)
  return !isServerUse(type) && (calls === undefined || isTied(block, calls))
}

/** True for a call with or without its result, or for the result of a call that was sent before. */
function areSendable(
  blocks: readonly Block[],
  call: CallItem | OpenCallItem,
  calls: ServerCalls,
): boolean {
  const [first, ...others] = blocks
  if (first === undefined || !blocks.every((block) => isTied(block, calls))) return false
  if (isServerResult(first['type'])) {
    return others.length === 0 && isSendableResult(first, calls)
  }
  const id = asText(first['id'])
  const areOfIt = others.every((block) => isReadable(block) && block['tool_use_id'] === id)
  if (id === undefined || others.length > 1 || !areOfIt || !isKnownUse(first, id)) return false
  return calls.make(id, call) && others.every(() => calls.answer(id))
}

/** What code brought about goes only together with that code. */
function isTied(block: object, calls: ServerCalls): boolean {
  const maker = codeCaller(block)
  return maker === undefined || calls.isMade(maker) || calls.options.continues === true
}

function isKnownUse(block: Block, id: string): boolean {
  const name = asText(block['name']) ?? ''
  if (block['type'] === 'server_tool_use') return SERVER_ID.test(id) && SERVER_TOOLS.has(name)
  const isNamed = name !== '' && name.length <= NAME_MAX
  return block['type'] === 'mcp_tool_use' && isMcpId(id) && isNamed
}

/** Ids of the two kinds never meet, so that a result cannot answer a call of the other. */
function isMcpId(id: string): boolean {
  return CLIENT_ID.test(id) && !id.startsWith('srvtoolu_')
}

function isSendableResult(block: Block, calls: ServerCalls): boolean {
  const id = asText(block['tool_use_id'])
  if (id === undefined || !isReadable(block) || !isTied(block, calls)) return false
  return calls.answer(id)
}

/** The form that a result must have to be taken back; pages found need their ciphertext. */
function isReadable(block: Block): boolean {
  const { type, content } = block
  const id = asText(block['tool_use_id']) ?? ''
  const parts = asList(content).map(asObject)
  if (type === 'mcp_tool_result') {
    return isMcpId(id) && parts.every((part) => part?.['type'] === 'text' && isSaid(part['text']))
  }
  if (!isServerResult(type) || !SERVER_ID.test(id)) return false
  if (type !== 'web_search_tool_result') return true
  return parts.every((part) => isSaid(part?.['encrypted_content']))
}

function isSaid(text: unknown): boolean {
  return typeof text === 'string' && text !== ''
}
