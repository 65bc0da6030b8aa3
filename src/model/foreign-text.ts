import type { CallItem, ContentPart, OpenCallItem } from '../records/history-item.ts'

/**
 * How a call that another vendor's server ran is told where its blocks cannot be sent: as text, so
 * that the model knows what was looked up and what came back.
 */
export function foreignCallText(call: CallItem | OpenCallItem): string {
  const asked = `[${call.tool} ${JSON.stringify(call.args)}]`
  if (call.type === 'openCall') return `${asked}\n(not finished)`
  if (call.result === undefined) return asked
  const { isError, parts } = call.result
  return `${asked}\n${isError ? 'error: ' : ''}${partsText(parts)}`
}

/** Content as one text: media are named, not spelled out. */
export function partsText(parts: readonly ContentPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : mediaText(part))).join('\n')
}

function mediaText(part: Extract<ContentPart, { type: 'media' }>): string {
  const { kind, mimeType, filename } = part
  return `[${[kind, mimeType, filename].filter((word) => word !== undefined).join(' ')}]`
}
