import type { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { TrustTier } from '../core/trust.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { Artifact } from '../spool/artifact.ts'
import type { EnvelopeDetails, EnvelopeRole } from '../text/envelope.ts'
import type { ItemForm } from './item-form.ts'
import { MEDIA_LIMIT, type Reading, type RenderedPart } from './rendered-part.ts'

/** What the model reads instead of the artifacts of a call. */
export type HandleText = (
  results: Artifact | readonly Artifact[],
  target: { readonly callId: string },
) => Promise<string>

/** The beginning of an artifact, at most `maxBytes` of it. */
export type ReadHead = (artifact: SpooledArtifact, maxBytes: number) => Promise<string>

export interface CallRendererOptions {
  /** See `envelopeKey`. */
  readonly key: Uint8Array
  readonly handleText: HandleText
  readonly readHead: ReadHead
  readonly limits?: Partial<RenderLimits>
  readonly reading?: Reading
}

/** The limits of what one call shows: what no provider takes. */
export interface RenderLimits {
  /** Bytes of one call's results that are shown inline; beyond it the model gets a head and a handle. */
  readonly inlineBytes: number
  /** Bytes of that head. */
  readonly headBytes: number
  /** Bytes of one media that is passed on. */
  readonly mediaBytes: number
  /** Media of one call that are passed on. */
  readonly maxMedia: number
}

export const RENDER_LIMITS: RenderLimits = {
  inlineBytes: 10_000_000,
  headBytes: 8_192,
  mediaBytes: MEDIA_LIMIT,
  maxMedia: 32,
}

/** What the pieces of one call's rendering share. */
export interface CallRendering {
  readonly call: ToolCall
  readonly form: ItemForm
  readonly limits: RenderLimits
  readonly options: CallRendererOptions
  readonly wrap: (part: EnvelopePart) => RenderedPart
}

export interface EnvelopePart {
  readonly body: string
  readonly role?: EnvelopeRole
  readonly trust?: TrustTier
  readonly index?: number | undefined
  readonly details?: EnvelopeDetails
}
