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
}

/** Puts the attachments of an input on a spool. */
export async function submitted(
  input: Pick<TurnInput, 'message' | 'attachments'> & { readonly context?: JsonValue | undefined },
  spool: SpoolStore,
): Promise<Submitted> {
  const { message, attachments = [], context } = input
  const stored: Media[] = []
  for (const media of attachments) stored.push(await media.spooled(spool))
  return { message, attachments: stored, ...(context !== undefined && { context }) }
}

/** Tells one input from another without holding it. */
export function inputDigest({ message, attachments, context }: Submitted, key: Uint8Array): string {
  const digests = attachments.map(({ digest }) => digest ?? '')
  const input = { message, attachments: digests, ...(context !== undefined && { context }) }
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
    const { message, attachments = [], context } = row
    if (typeof message !== 'string' || !Array.isArray(attachments)) throw new Error('wrong members')
    if (message === '' && attachments.length === 0) throw new Error('it is empty')
    return {
      message,
      attachments: attachments.map((json) => Media.fromJSON(json, { spool })),
      ...(context !== undefined && { context: context as JsonValue }),
    }
  } catch (error) {
    throw storeCorrupt(`The queued message \`${turnId}\``, thrownText(error))
  }
}
