import type {
  CallItem,
  ContentPart,
  ForeignForm,
  OpenCallItem,
} from '../../records/history-item.ts'
import { type EnvelopeRole, envelope } from '../../text/envelope.ts'

/** Without a key, anybody can compute a nonce. Escaping alone then keeps the body inside. */
const NO_KEY = new Uint8Array()

/**
 * The text of a call that another vendor's server ran. It stands in for blocks that cannot be sent, so
 * that the model knows what was looked up and what was found. All of it is in envelopes: strangers wrote it.
 */
export function foreignCallText(call: CallItem | OpenCallItem): string {
  const { asked, found } = call.foreign ?? foreignForm(NO_KEY, call)
  if (call.type === 'openCall') return `${asked}\n(not finished)`
  const shown = (call.result?.parts ?? []).flatMap((part) =>
    part.type === 'text' ? part.text : [],
  )
  return [asked, ...(found === undefined ? shown : [found])].join('\n')
}

/** The envelopes in which other providers get a call that its provider ran. */
export function foreignForm(key: Uint8Array, call: CallItem | OpenCallItem): ForeignForm {
  const wrap = (role: EnvelopeRole, body: string) => {
    const details = { tool: call.tool, by: 'provider' }
    return envelope(key, { role, trust: 'third-party', id: call.id, details }, body)
  }
  const asked = wrap('call', JSON.stringify(call.args))
  const result = call.type === 'call' ? call.result : undefined
  if (result === undefined) return { asked }
  return { asked, found: wrap(result.isError ? 'error' : 'result', partsText(result.parts)) }
}

/** Content as one text: media are named, not spelled out. */
export function partsText(parts: readonly ContentPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : mediaText(part))).join('\n')
}

function mediaText(part: Extract<ContentPart, { type: 'media' }>): string {
  const { kind, mimeType, filename } = part
  return `[${[kind, mimeType, filename].filter((word) => word !== undefined).join(' ')}]`
}
