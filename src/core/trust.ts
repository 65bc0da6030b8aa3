/** From most to least trusted. Tool output is `third-party` unless its tool says otherwise. */
export const TRUST_TIERS = ['developer', 'first-party', 'third-party'] as const

/** Who vouches for a text, from the developer down to strangers. */
export type TrustTier = (typeof TRUST_TIERS)[number]

/** The less trusted of two tiers: trust only ever goes down. */
export function lowerTrust(a: TrustTier, b: TrustTier): TrustTier {
  return TRUST_TIERS.indexOf(a) >= TRUST_TIERS.indexOf(b) ? a : b
}
