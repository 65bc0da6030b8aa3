import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { brief } from '../core/error/cut-text.ts'
import type { JsonValue } from '../core/json/json.ts'
import { resultText } from '../records/result-text.ts'
import { isArtifact } from '../spool/artifact.ts'
import { Media } from '../spool/media.ts'

/** Results up to this many bytes are sent whole. */
const MAX_WHOLE_BYTES = 4096
const HEAD = { maxLines: 20, maxChars: MAX_WHOLE_BYTES, maxLineChars: 1000 }
/** Texts of the runner, and answers about artifacts, are cut to this many characters. */
const MAX_TEXT = 16_384
const MAX_LISTED = 50

/** One result as a page shows it: what it is, and its first lines. */
export interface UiResult {
  /** The kind of an artifact, such as `text` or `json`; of media, `image`, `audio`, `video` or `document`. */
  readonly kind: string
  readonly bytes?: number
  readonly lines?: number
  readonly digest?: string
  readonly mimeType?: string
  readonly filename?: string
  /** The first lines; all of them if `isWhole`. */
  readonly head?: string
  readonly isWhole: boolean
  /** The parsed value, if the result is JSON and whole. */
  readonly value?: JsonValue
}

/** The output of a call: a text, one result, or a list of them. */
export type UiOutput = string | UiResult | readonly UiResult[]

/** What a page gets of the results of a call; never the bytes of a large one. */
export async function outputOf(call: {
  readonly results?: unknown
  readonly media?: readonly { readonly media: Media }[]
}): Promise<UiOutput> {
  const text = resultText(call)
  const placed = call.media?.map(({ media }) => mediaResult(media)) ?? []
  if (text !== undefined) {
    const shown = brief(text, MAX_TEXT)
    if (placed.length === 0) return shown
    return [{ kind: 'text', head: shown, isWhole: shown === text }, ...placed]
  }
  const { results } = call
  const list = (Array.isArray(results) ? results : [results]) as readonly unknown[]
  const shown: UiResult[] = []
  for (const result of list.slice(0, MAX_LISTED)) shown.push(await oneResult(result))
  const all = [...shown, ...placed]
  const [first] = all
  return !Array.isArray(results) && all.length === 1 && first !== undefined ? first : all
}

/** The results in an output that are not whole. */
export function handlesIn(output: UiOutput): readonly UiResult[] {
  if (typeof output === 'string') return []
  return (Array.isArray(output) ? (output as readonly UiResult[]) : [output as UiResult]).filter(
    ({ isWhole }) => !isWhole,
  )
}

async function oneResult(result: unknown): Promise<UiResult> {
  if (Media.isMedia(result)) return mediaResult(result)
  if (!isArtifact(result)) return { kind: 'none', isWhole: true }
  const about = {
    kind: result.kind,
    bytes: result.byteLength(),
    lines: result.lineCount(),
    digest: result.digest,
  }
  if (!SpooledArtifact.isSpooledArtifact(result)) return { ...about, isWhole: false }
  try {
    if (about.bytes > MAX_WHOLE_BYTES) {
      const { lines } = await result.window({ start: 0, end: HEAD.maxLines }, HEAD)
      return { ...about, head: lines.map(({ text }) => text).join('\n'), isWhole: false }
    }
    const head = await result.asString(MAX_WHOLE_BYTES)
    const value = about.kind === 'json' ? parsed(head) : undefined
    return { ...about, head, isWhole: true, ...(value !== undefined && { value }) }
  } catch {
    // Bytes that are gone or damaged: the page shows what is known of them.
    return { ...about, isWhole: false }
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function mediaResult(media: Media): UiResult {
  const { kind, mimeType, filename, byteLength, digest } = media
  const size = byteLength !== undefined && { bytes: byteLength }
  return { kind, mimeType, filename, ...size, ...(digest && { digest }), isWhole: false }
}
