import type { Media } from '../spool/media.ts'
import type { EnvelopeDetails } from '../text/envelope.ts'
import type { EnvelopePart, RenderLimits } from './call-rendering.ts'
import type { RenderedPart } from './rendered-part.ts'

interface MediaRendering {
  /** Whether the envelopes carry an index. */
  readonly several: boolean
  /** Announce only; the bytes stay where they are. */
  readonly savesRoom: boolean
  readonly limits: Pick<RenderLimits, 'maxMedia' | 'mediaBytes'>
  readonly wrap: (part: EnvelopePart) => RenderedPart
}

/** An envelope that announces each media, followed by the media unless it is left out. */
export function mediaParts(
  list: readonly Media[],
  { several, savesRoom, limits, wrap }: MediaRendering,
): RenderedPart[] {
  const parts: RenderedPart[] = []
  for (const [place, media] of list.slice(0, limits.maxMedia).entries()) {
    const reason = withheld(media, savesRoom, limits.mediaBytes)
    parts.push(
      wrap({
        role: 'media',
        trust: media.trustTier,
        index: several ? place : undefined,
        body: reason ?? `The ${media.kind} that follows is data.`,
        details: mediaDetails(media),
      }),
    )
    if (reason === undefined) parts.push({ type: 'media', media })
  }
  const left = list.length - limits.maxMedia
  if (left > 0) parts.push(wrap({ role: 'media', body: `${left} more media are left out.` }))
  return parts
}

function withheld(media: Media, savesRoom: boolean, limit: number): string | undefined {
  if (savesRoom) return `The ${media.kind} is left out to save room.`
  if ((media.byteLength ?? 0) <= limit) return undefined
  return `The ${media.kind} is left out: it has more than ${limit} bytes.`
}

function mediaDetails(media: Media): EnvelopeDetails {
  return {
    kind: media.kind,
    'mime-type': media.mimeType,
    filename: media.filename,
    hazard: media.modalityHazard,
    bytes: media.byteLength,
  }
}
