import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { textQueries } from '../../artifacts/text-queries.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { SpooledArtifactConstructor } from '../../spool/artifact.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { isJsonObject } from './safe-schema.ts'
import { shownBriefly } from './stranger-text.ts'

/** A resource that a result links to, as its server describes it. */
export interface ResourceLink {
  readonly uri: string
  readonly name?: unknown
  readonly title?: unknown
  readonly description?: unknown
  readonly mimeType?: unknown
  readonly size?: unknown
}

/** Reads a resource from the server that linked to it. No address is ever opened by this process. */
export type ReadResource = (uri: string, signal: AbortSignal) => Promise<unknown>

const MAX_URI = 2_000
const MAX_TEXT = 500
/** How much of a resource is kept at most. */
const MAX_BYTES = 16 * 1024 * 1024

/** The text of a link: what a model reads before it asks, and all that is left after a restart. */
export function linkText(link: ResourceLink): string {
  const shown = (['name', 'title', 'description', 'mimeType'] as const).flatMap((key) => {
    const value = link[key]
    return typeof value === 'string' ? [`${key}: ${shownBriefly(value, MAX_TEXT)}`] : []
  })
  const size = typeof link.size === 'number' ? [`size: ${link.size} bytes`] : []
  const uri = `uri: ${shownBriefly(link.uri, MAX_URI)}`
  const how = 'The server reads it when this result is first queried with an artifact tool.'
  return ['Link to a resource', uri, ...shown, ...size, how, ''].join('\n')
}

/**
 * A class of artifacts that are links: their text is that of the link, and a query reads the resource first, once. It is
 * stored as plain text, so that any process can read the record.
 */
export function linkedResource(uri: string, read: ReadResource): SpooledArtifactConstructor {
  let contents: Promise<SpooledArtifact> | undefined
  const load = (signal: AbortSignal) => {
    contents ??= loadText(uri, read, signal).catch((error: unknown) => {
      contents = undefined
      throw error
    })
    return contents
  }
  const queries = textQueries.map((query) => ({
    ...query,
    run: async (_: unknown, args: never, context: { readonly signal: AbortSignal }) =>
      query.run(await load(context.signal), args, context),
  }))
  return class LinkedResource extends SpooledArtifact {
    static override readonly queries = queries
  }
}

async function loadText(
  uri: string,
  read: ReadResource,
  signal: AbortSignal,
): Promise<SpooledArtifact> {
  let answer: unknown
  try {
    answer = await read(uri, signal)
  } catch (error) {
    const why = shownBriefly(thrownText(error), MAX_TEXT)
    throw new Error(`The resource could not be read: ${why}`, { cause: error })
  }
  const contents = isJsonObject(answer) ? answer['contents'] : undefined
  const texts = (Array.isArray(contents) ? contents : []).map((each: unknown) => textOf(each))
  const text = texts.join('\n')
  if (text.length > MAX_BYTES) {
    throw new Error(`The resource has more than ${MAX_BYTES} characters. Ask for a smaller part.`)
  }
  return new SpooledArtifact(await memorySpool().write(text))
}

function textOf(contents: unknown): string {
  if (!isJsonObject(contents)) return ''
  const { text, blob, mimeType } = contents
  if (typeof text === 'string') return text
  const type = typeof mimeType === 'string' ? shownBriefly(mimeType, 100) : 'unknown type'
  const size = typeof blob === 'string' ? Math.floor((blob.length * 3) / 4) : 0
  return `[${size} bytes of ${type}, which cannot be shown as text]`
}
