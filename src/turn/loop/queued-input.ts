import { hmacSha256, sha256Hex } from '#hash'
import { thrownText } from '../../core/error/thrown-text.ts'
import { toHex } from '../../core/hex.ts'
import { canonicalStringify } from '../../core/json/canonical.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { Media } from '../../spool/media.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { QueuedRow } from '../../store/feed-driver.ts'
import { storeCorrupt } from '../../store/store-errors.ts'
import type { TurnInput } from './turn-input.ts'

/** What a message is about: all that its digest covers. */
export interface Submitted {
  readonly message: string
  /** On a spool: their digests are known. */
  readonly attachments: readonly Media[]
  readonly context?: JsonValue | undefined
  /** Present when it takes the last message back: an empty one is asked again. */
  readonly regenerate?: Regeneration | undefined
}

/** How the last message is taken back. */
export interface Regeneration {
  readonly redoEffects: boolean
}

/** An input whose attachments may be anywhere. */
export type Unspooled = Omit<Submitted, 'attachments'> & Pick<TurnInput, 'attachments'>

/** Puts the attachments of an input on a spool. */
export async function submitted(input: Unspooled, spool: SpoolStore): Promise<Submitted> {
  const { attachments = [], ...about } = input
  const stored: Media[] = []
  for (const media of attachments) stored.push(await media.spooled(spool))
  return { ...about, attachments: stored }
}

/** Tells one input from another without holding it. */
export function inputDigest(
  { message, attachments, context, regenerate }: Submitted,
  key: Uint8Array,
): string {
  const digests = attachments.map(({ digest }) => digest ?? '')
  const input = {
    message,
    attachments: digests,
    ...(context !== undefined && { context }),
    ...(regenerate !== undefined && { regenerate: { ...regenerate } }),
  }
  return toHex(hmacSha256(key, `bobbin/turn-input/1\n${sha256Hex(canonicalStringify(input))}`))
}

/** An input as it waits in the queue of a conversation. */
export const queuedBody = (input: Submitted): string => JSON.stringify(input)

/**
 * Reads a queued input back; `E_STORE_CORRUPT` if the row cannot be a message. It comes from a database that others can
 * write to.
 */
export function queuedInput(
  { turnId, body }: Pick<QueuedRow, 'turnId' | 'body'>,
  spool: Pick<SpoolStore, 'read'>,
): Submitted {
  try {
    const row = Object(JSON.parse(body)) as Partial<Record<keyof Submitted, unknown>>
    const { message, attachments = [], context, regenerate } = row
    if (typeof message !== 'string' || !Array.isArray(attachments)) throw new Error('wrong members')
    const isEmpty = message === '' && attachments.length === 0
    if (isEmpty && regenerate === undefined) throw new Error('it is empty')
    const { redoEffects } = Object(regenerate) as { readonly redoEffects?: unknown }
    return {
      message,
      attachments: attachments.map((json) => Media.fromJSON(json, { spool })),
      ...(context !== undefined && { context: context as JsonValue }),
      ...(regenerate !== undefined && { regenerate: { redoEffects: redoEffects === true } }),
    }
  } catch (error) {
    throw storeCorrupt(`The queued message \`${turnId}\``, thrownText(error))
  }
}
