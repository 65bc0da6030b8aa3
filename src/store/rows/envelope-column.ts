import { hmacSha256 } from '#hash'
import { envelopeKey } from '../../text/envelope-key.ts'
import type { ConversationRow } from './store-rows.ts'

/** The key of the envelopes of a conversation. A fork has that of its origin, so that its requests begin with the same bytes. */
export function envelopeKeyOf(
  { id, envelope }: Pick<ConversationRow, 'id' | 'envelope'>,
  key: Uint8Array,
): Uint8Array {
  return envelope === null ? envelopeKey(key, id) : hiddenEnvelope(key, envelope)
}

/** The key of envelopes under the key of a fork, and back. Where the application keeps that key, the database tells neither. */
export function hiddenEnvelope(key: Uint8Array, envelope: Uint8Array): Uint8Array {
  const pad = hmacSha256(key, 'bobbin/fork-envelope/1')
  return pad.map((byte, at) => byte ^ (envelope[at] ?? 0))
}
