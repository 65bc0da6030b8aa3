import { lowerTrust, type TrustTier } from '../core/trust.ts'
import type { Message } from '../records/message.ts'
import { envelope } from '../text/envelope.ts'
import { escapeTagName } from '../text/tag-name.ts'
import { RENDER_LIMITS, type RenderLimits } from './call-rendering.ts'
import { mediaParts } from './render-media.ts'
import type { RenderedPart } from './rendered-part.ts'

export interface RenderedMessage {
  readonly parts: readonly RenderedPart[]
  /** The lowest tier among the attachments; what a person says is the developer's to judge. */
  readonly trust: TrustTier
}

/** Tells the model that its own text is not whole. */
const CUT_OFF = '[This answer was cut off here: the turn ended before it was complete.]'

/** A message as the model sees it: what a person wrote cannot spell our tag, attachments are announced. */
export function renderMessage(
  message: Message,
  { key, limits }: { readonly key: Uint8Array; readonly limits?: Partial<RenderLimits> },
): RenderedMessage {
  const { id, role, content, attachments } = message
  const text = content?.text ?? ''
  const parts: RenderedPart[] = []
  if (text !== '') parts.push({ type: 'text', text: role === 'user' ? escapeTagName(text) : text })
  if (message.partial) parts.push({ type: 'text', text: CUT_OFF })
  const media = mediaParts(attachments, {
    several: true,
    savesRoom: false,
    limits: { ...RENDER_LIMITS, ...limits },
    wrap: ({ body, index, trust = 'third-party', details = {} }) => {
      const place = index === undefined ? {} : { index }
      return {
        type: 'text',
        text: envelope(key, { role: 'media', trust, id, details, ...place }, body),
      }
    },
  })
  const tiers = attachments.map(({ trustTier }) => trustTier)
  return { parts: [...parts, ...media], trust: tiers.reduce(lowerTrust, 'developer') }
}
