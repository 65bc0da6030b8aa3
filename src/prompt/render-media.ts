import type { PlacedMedia } from '../records/placed-media.ts'
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
export const mediaParts = (list: readonly Media[], rendering: MediaRendering): RenderedPart[] =>
  mixedParts(
    [],
    list.map((media, place) => ({ place, media })),
    rendering,
  )

/** Texts and media of one result, in the order in which the handler returned them. */
export function mixedParts(
  texts: readonly RenderedPart[],
  placed: readonly PlacedMedia[],
  rendering: MediaRendering,
): RenderedPart[] {
  const parts: RenderedPart[] = []
  const waiting = [...texts]
  const { limits, wrap } = rendering
  for (const [index, { place, media }] of placed.slice(0, limits.maxMedia).entries()) {
    // `place - index` parts before this one are not media.
    parts.push(...waiting.splice(0, place - index - (texts.length - waiting.length)))
    parts.push(...oneMedia(media, index, rendering))
  }
  parts.push(...waiting)
  const left = placed.length - limits.maxMedia
  if (left > 0) parts.push(wrap({ role: 'media', body: `${left} more media are left out.` }))
  return parts
}

function oneMedia(
  media: Media,
  index: number,
  { several, savesRoom, limits, wrap }: MediaRendering,
): RenderedPart[] {
  const reason = withheld(media, savesRoom, limits.mediaBytes)
  const announced = wrap({
    role: 'media',
    trust: media.trustTier,
    index: several ? index : undefined,
    body: reason ?? `The ${media.kind} that follows is data.`,
    details: mediaDetails(media),
  })
  return reason === undefined ? [announced, { type: 'media', media }] : [announced]
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
