import type { MediaPart } from '../../records/history-item.ts'

/** A URL for any media that has bytes or an address. */
export function urlOf({ source, mimeType }: MediaPart): string {
  if (source.type === 'url') return source.url
  return source.type === 'base64'
    ? `data:${mimeType ?? 'application/octet-stream'};base64,${source.data}`
    : source.id
}
