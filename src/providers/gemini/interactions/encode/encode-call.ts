import type { Interactions } from '@google/genai'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import type { EncodeContext, EncodeOptions } from '../../../../model/wire/encode-groups.ts'
import { foreignCallText, partsText } from '../../../../model/wire/foreign-text.ts'
import { fitName } from '../../../../model/wire/name-projection.ts'
import { asObject, asWord } from '../../../../model/wire/wire-value.ts'
import type { CallItem, OpenCallItem, RawItem } from '../../../../records/history-item.ts'
import { SKIP_SIGNATURE, wantsSignatures } from '../../wire/model-version.ts'
import { spelledStep } from '../decode/decode-step.ts'
import { encodePart } from '../wire/content.ts'
import { API, serverStep, typeOf, type WireStep } from '../wire/wire.ts'

// The first character may not be a digit, a dot, a colon or a dash.
const NAME_REFUSED = /^[^a-zA-Z_]|[^a-zA-Z0-9_.:-]/g
const NAME_MAX = 128

/** The name under which call and result go; a model may have made up one that the wire refuses. */
function nameOf({ tool }: CallItem): string {
  return fitName(tool, NAME_REFUSED, NAME_MAX)
}

/** A call that the runner answers. */
export function encodeRunnerCall(call: CallItem, context: EncodeContext): Interactions.Step {
  const own = asObject(context.own(call.providerData))
  return {
    ...asObject(own?.['extras']),
    type: 'function_call',
    id: context.callId(call),
    name: nameOf(call),
    arguments: call.args,
  }
}

/**
 * A thought that stands for the signature of a call, or none. Recent models refuse a call that no signature covers; for
 * calls that it did not sign itself the provider documents an escape.
 */
export function signatureFor(
  call: CallItem,
  context: EncodeContext,
  { modelFamily }: EncodeOptions,
): readonly Interactions.Step[] {
  const own = asObject(context.own(call.providerData))
  if (asWord(asObject(own?.['extras'])?.['signature']) !== undefined) return []
  const isAsked = wantsSignatures(modelFamily) || (own === undefined && modelFamily === undefined)
  return isAsked ? [{ type: 'thought', signature: SKIP_SIGNATURE }] : []
}

/** The answer to a runner's call. */
export function encodeResult(call: CallItem, context: EncodeContext): Interactions.Step {
  const { isError, parts, providerData } = context.resultOf(call)
  const call_id = context.callId(call)
  const name = nameOf(call)
  const own = asObject(asObject(context.own(providerData))?.['step'])
  if (own !== undefined) {
    // It goes back in the spelling that it came in.
    const id = own['call_id'] === undefined && own['callId'] !== undefined ? 'callId' : 'call_id'
    return {
      ...own,
      result: sendable(own['result']),
      [id]: call_id,
    } as unknown as Interactions.Step
  }
  const answer = {
    type: 'function_result',
    call_id,
    name,
    ...(isError && { is_error: true }),
  } as const
  if (parts.every((part) => part.type === 'text')) return { ...answer, result: partsText(parts) }
  const result = parts.flatMap((part): Interactions.Content[] => {
    const encoded = encodePart(part)
    if (encoded !== undefined) return [encoded]
    return part.type === 'text' ? [] : [{ type: 'text', text: partsText([part]) }]
  })
  return { ...answer, result }
}

/** A result must be a text, a list or an object; anything else goes as its JSON. */
function sendable(result: JsonValue | undefined): JsonValue {
  if (result === undefined || result === null) return ''
  return typeof result === 'number' || typeof result === 'boolean' ? JSON.stringify(result) : result
}

/** The steps of the provider's own tools that a request holds so far. */
export class ServedCalls {
  readonly #ids = new Set<string>()
  readonly #continues: boolean

  constructor({ continues }: EncodeOptions) {
    this.#continues = continues === true
  }

  /** Notes these steps, unless one is a result whose call is not in the request, or a call that is there already. */
  take(steps: readonly JsonObject[]): boolean {
    const ids = new Set(this.#ids)
    for (const given of steps) {
      const step = spelledStep(given)
      const isCall = serverStep(typeOf(step))?.isCall
      if (isCall === undefined) {
        // A tool that is not known here: its ids may not repeat either.
        const unknown = unknownName(step)
        if (unknown === undefined) continue
        if (ids.has(unknown)) return false
        ids.add(unknown)
        continue
      }
      const name = `${typeOf(step).replace(/_(call|result)$/, '')} ${asWord(isCall ? step.id : step.call_id)}`
      const isDone = ids.has(`${name} done`)
      if (isCall ? ids.has(name) : isDone || !(this.#continues || ids.has(name))) return false
      ids.add(isCall ? name : `${name} done`)
    }
    for (const id of ids) this.#ids.add(id)
    return true
  }
}

function unknownName(step: WireStep): string | undefined {
  const type = typeOf(step)
  const id = asWord(type.endsWith('_result') ? step.call_id : step.id)
  return id !== undefined && /_(call|result)$/.test(type) ? `${type} ${id}` : undefined
}

/** A call that a provider ran: its own steps if this provider ran it, otherwise a text about it. */
export function encodeServerCall(
  call: CallItem | OpenCallItem,
  context: EncodeContext,
  served: ServedCalls,
): readonly Interactions.Step[] {
  const steps = context.rawItems(call)?.map((step) => asObject(step) ?? {})
  if (steps !== undefined && served.take(steps)) return steps as unknown as Interactions.Step[]
  if (steps !== undefined) {
    context.leftOut(call.wire.type, `A step of \`${call.tool}\` has no pair; it is sent as text.`)
  }
  return said(foreignCallText(call))
}

/** A step without neutral form, where it came from; elsewhere it is left out. */
export function encodeRaw(
  item: RawItem,
  context: EncodeContext,
  served: ServedCalls,
): readonly Interactions.Step[] {
  const step = item.api === API ? asObject(item.value) : undefined
  if (step !== undefined && served.take([step])) return [step as unknown as Interactions.Step]
  context.leftOut('raw', `An item of \`${item.api}\` has no form here and was left out.`)
  return []
}

/** Words of the model. */
export function said(text: string): readonly Interactions.Step[] {
  return text === '' ? [] : [{ type: 'model_output', content: [{ type: 'text', text }] }]
}
