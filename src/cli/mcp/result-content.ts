import { Buffer } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { isObject } from '../../core/error/wrong-input.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import { Media } from '../../spool/media.ts'

/** One part of a result, as programs read it. */
export type ResultPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'media'
      readonly mimeType: string
      readonly byteLength: number
      /** The bytes as base64. */
      readonly data: string
    }

/** The parts of a result in their order. */
export async function contentOf({ results, media = [] }: ToolCall): Promise<readonly ResultPart[]> {
  const list: readonly unknown[] = Array.isArray(results) ? results : [results]
  const parts = await Promise.all(list.map(partOf))
  for (const placed of media) parts.splice(placed.place, 0, await partOf(placed.media))
  const last = parts.at(-1)
  // Servers send structured content as text too, for clients that read no other.
  const isTwice = parts.length > 1 && parts.slice(0, -1).some((part) => saysSame(part, last))
  return isTwice ? parts.slice(0, -1) : parts
}

function saysSame(part: ResultPart, other: ResultPart | undefined): boolean {
  if (part.type !== 'text' || other?.type !== 'text') return false
  try {
    const [one, two] = [part, other].map(({ text }): unknown => JSON.parse(text))
    return isObject(one) && isDeepStrictEqual(one, two)
  } catch {
    return false
  }
}

async function partOf(value: unknown): Promise<ResultPart> {
  if (Media.isMedia(value)) {
    const chunks: Uint8Array[] = []
    for await (const chunk of value.stream()) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const { mimeType } = value
    return { type: 'media', mimeType, byteLength: bytes.length, data: bytes.toString('base64') }
  }
  if (SpooledArtifact.isSpooledArtifact(value)) {
    return { type: 'text', text: await value.asString(Number.POSITIVE_INFINITY) }
  }
  const { text } = Object(value) as { readonly text?: unknown }
  return { type: 'text', text: typeof text === 'string' ? text : '' }
}
