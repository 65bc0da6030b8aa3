import { standardBase64 } from '../../core/base64.ts'
import type { MediaPart } from '../../records/history-item.ts'

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[^,;]*)*;base64,/

/** A URL for any media that has bytes or an address. */
export function urlOf({ source, mimeType }: MediaPart): string {
  if (source.type === 'url') return source.url
  return source.type === 'base64'
    ? `data:${mimeType ?? 'application/octet-stream'};base64,${standardBase64(source.data)}`
    : source.id
}

/** Media at an address, which may be a data URL that holds them. */
export function mediaAt(kind: MediaPart['kind'], url: string): MediaPart {
  const inline = DATA_URL.exec(url)
  if (inline === null) return { type: 'media', kind, source: { type: 'url', url } }
  const mimeType = inline[1]
  const source = { type: 'base64', data: url.slice(inline[0].length) } as const
  return { type: 'media', kind, ...(mimeType !== undefined && { mimeType }), source }
}

/** The beginning of a data URL, up to its base64; undefined for any other text. */
export function dataUrlHead(url: string): string | undefined {
  return DATA_URL.exec(url)?.[0]
}
