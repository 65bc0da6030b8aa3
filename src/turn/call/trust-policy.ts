/** The values of `policy`. */
export const TRUST_POLICIES = ['default', 'strict', 'open'] as const

/**
 * Which calls need approval once a conversation has seen third-party text: `write` tools by `default`, with `strict` also
 * tools that declare no effect, with `open` none. A tool's own `approval` always applies.
 */
export type TrustPolicy = (typeof TRUST_POLICIES)[number]
