import { hmac128 } from '#hash'

/** Where in which payload a call without an id was seen. */
export interface CallPlace {
  /** The response that held it, when the wire names it. */
  readonly response?: string
  /** How many calls came before it in the payload. */
  readonly ordinal: number
  readonly wireType: string
  /** Tool and arguments in canonical form. */
  readonly content: string
}

/** Makes the id of a call whose wire has none: same place, same id. */
export type MintId = (place: CallPlace) => string

export interface SyntheticIdOptions {
  /** At least 16 secret bytes. Anyone who knows them can predict the ids. */
  readonly secret: Uint8Array
  /** What the payload belongs to: conversation, turn, iteration. Other scopes give other ids. */
  readonly scope?: string
}

/**
 * Keyed derivation: unguessable without the secret and stable with it, so that decoding the same
 * stored history again gives the same ids. 128 bits, in characters that every provider accepts.
 */
export function syntheticIds({ secret, scope = '' }: SyntheticIdOptions): MintId {
  return ({ response = '', ordinal, wireType, content }) => {
    const place = [scope, response, String(ordinal), wireType, content]
    const message = place.map((part) => `${part.length}:${part}`).join('')
    return `bob_${hmac128(secret, message)}`
  }
}

/** A fresh secret for those who do not need ids to survive the process. */
export function randomSecret(): Uint8Array {
  return globalThis.crypto.getRandomValues(new Uint8Array(32))
}
