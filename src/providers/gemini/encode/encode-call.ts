import type { FunctionCall, Part } from '@google/genai'
import type { JsonObject } from '../../../core/json/json.ts'
import type { EncodeContext, EncodeOptions } from '../../../model/wire/encode-groups.ts'
import { foreignCallText } from '../../../model/wire/foreign-text.ts'
import { issuedBy } from '../../../model/wire/id-projection.ts'
import { fitName } from '../../../model/wire/name-projection.ts'
import { asObject, asWord } from '../../../model/wire/wire-value.ts'
import type { CallItem, OpenCallItem, RawItem } from '../../../records/history-item.ts'
import { isOldModel, SKIP_SIGNATURE, wantsSignatures } from '../wire/model-version.ts'
import { API } from '../wire/wire.ts'

// The first character may not be a digit, a dot, a colon or a dash.
const NAME_REFUSED = /^[^a-zA-Z_]|[^a-zA-Z0-9_.:-]/g
const NAME_MAX = 128

/** What the calls of one request have to know of each other. */
export class RequestCalls {
  readonly options: EncodeOptions
  /** Ids of the provider's own calls that the request holds so far. */
  readonly served = new Set<string>()
  readonly #issued = new Map<string, CallItem>()

  constructor(options: EncodeOptions) {
    this.options = options
  }

  /**
   * The id that this provider issued for a call, or none: others are never sent, because backends refuse
   * ids that they do not know. A second call under the same id goes by its position.
   */
  idOf(call: CallItem): string | undefined {
    const id = issuedBy(API, call.wire) ? call.wire.callId : undefined
    if (id === undefined || !this.#knowsIdsOf(call)) return undefined
    const owner = this.#issued.get(id) ?? call
    this.#issued.set(id, owner)
    return owner === call ? id : undefined
  }

  /** Older models and other backends refuse the member itself; there, calls go by their position. */
  #knowsIdsOf({ providerData }: CallItem): boolean {
    const { endpoint, modelFamily } = this.options
    const from = providerData?.endpoint
    if (from !== undefined && endpoint !== undefined && from !== endpoint) return false
    return !isOldModel(modelFamily) || providerData?.modelFamily === modelFamily
  }
}

/** The name under which call and result go; a model may have made up one that the wire refuses. */
export function nameOf({ tool }: CallItem): string {
  return fitName(tool, NAME_REFUSED, NAME_MAX)
}

/** A call that the runner answers. Only the first of a step is signed. */
export function encodeRunnerCall(
  call: CallItem,
  context: EncodeContext,
  calls: RequestCalls,
  isFirst: boolean,
): Part {
  const own = asObject(context.own(call.providerData))
  const extras = asObject(own?.['part'])
  const id = calls.idOf(call)
  const functionCall: FunctionCall = {
    ...(id !== undefined && { id }),
    name: nameOf(call),
    args: call.args,
    ...asObject(own?.['call']),
  }
  const isSigned = asWord(extras?.['thoughtSignature']) !== undefined
  const { modelFamily } = calls.options
  // A call of another model has no signature here. Unless the model is known not to ask for one, the
  // documented escape takes its place; this wire's own calls go as they came.
  const isAsked = wantsSignatures(modelFamily) || (own === undefined && modelFamily === undefined)
  const escape = isFirst && !isSigned && isAsked ? { thoughtSignature: SKIP_SIGNATURE } : {}
  return { functionCall, ...extras, ...escape }
}

/** What of a group's server tools was sent: results without id belong to what stands before them. */
export interface ServedInGroup {
  hasCode: boolean
  hasTool: boolean
}

/** A call that a provider ran: its own parts if this provider ran it, otherwise a text about it. */
export function encodeServerCall(
  call: CallItem | OpenCallItem,
  context: EncodeContext,
  calls: RequestCalls,
  served: ServedInGroup,
): readonly Part[] {
  const parts = context.rawItems(call)?.map((part) => asObject(part) ?? {})
  if (parts === undefined) return [{ text: foreignCallText(call) }]
  if (serve(parts, calls, served)) return parts
  context.leftOut(call.wire.type, `A result of \`${call.tool}\` has no call; it is sent as text.`)
  return [{ text: foreignCallText(call) }]
}

/** A part without neutral form, where it came from; elsewhere it is left out. */
export function encodeRaw(
  item: RawItem,
  context: EncodeContext,
  calls: RequestCalls,
  served: ServedInGroup = { hasCode: false, hasTool: false },
): readonly Part[] {
  const part = item.api === API ? asObject(item.value) : undefined
  if (part !== undefined && serve([part], calls, served)) return [part]
  context.leftOut('raw', `An item of \`${item.api}\` has no form here and was left out.`)
  return []
}

/** Notes the calls among these parts, unless one is a result whose call is not in the request. */
function serve(parts: readonly JsonObject[], calls: RequestCalls, served: ServedInGroup): boolean {
  const ids = new Set<string>()
  // Where the provider holds what came before, it may hold the calls too.
  const isHeld = calls.options.continues === true
  let hasCode = served.hasCode || isHeld
  let hasTool = served.hasTool || isHeld
  for (const part of parts) {
    const call = asObject(part['toolCall'])
    const response = asObject(part['toolResponse'])
    const id = asWord((call ?? response)?.['id'])
    hasCode ||= part['executableCode'] !== undefined
    hasTool ||= call !== undefined
    if (call !== undefined && id !== undefined) ids.add(id)
    if (part['codeExecutionResult'] !== undefined && !hasCode) return false
    const isKnown = id === undefined ? hasTool : isHeld || ids.has(id) || calls.served.has(id)
    if (response !== undefined && !isKnown) return false
  }
  for (const id of ids) calls.served.add(id)
  Object.assign(served, { hasCode, hasTool })
  return true
}
