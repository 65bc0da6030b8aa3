import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { TrustTier } from '../core/trust.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import type { CallResult } from './history-item.ts'
import { partMedia, partText } from './part-media.ts'
import type { PlacedMedia } from './placed-media.ts'
import type { ToolCallResults } from './tool-call-results.ts'

interface ProvidedResults {
  readonly results: ToolCallResults
  readonly media?: readonly PlacedMedia[]
}

/**
 * The results of a call that a provider ran. Media whose bytes the provider sent are `Media`; beside text they keep their
 * places. Media that it only refers to are named in the text.
 */
export async function providedResults(
  { parts }: CallResult,
  spool: Pick<SpoolStore, 'write'>,
  trust: TrustTier = 'third-party',
): Promise<ProvidedResults> {
  const media: PlacedMedia[] = []
  const texts: string[] = []
  for (const [place, part] of parts.entries()) {
    const own = part.type === 'media' ? partMedia(part, trust) : undefined
    if (own === undefined) texts.push(partText(part))
    else media.push({ place, media: await own.spooled(spool) })
  }
  const write = async (text: string) => new SpooledArtifact(await spool.write(text))
  if (media.length === 0) return { results: await write(texts.join('\n')) }
  const [first, ...rest] = media.map((one) => one.media)
  if (texts.length === 0 && first) return { results: rest.length === 0 ? first : [first, ...rest] }
  const artifacts = await Promise.all(texts.map(write))
  const [only, ...others] = artifacts
  return { results: only && others.length === 0 ? only : artifacts, media }
}
