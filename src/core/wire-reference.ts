import * as v from 'valibot'
import { jsonField } from './fields.ts'

/** Where an id comes from: issued by the provider for pairing, another id used for it, or made here. */
const ID_ORIGINS = ['natural', 'conflated', 'synthetic'] as const

const text = v.string('must be a string')

/** Where a call came from on the wire, with the provider's own ids kept apart and untouched. */
const wireReferenceSchema = v.strictObject({
  /** Who issued it, e.g. `openai`. */
  provider: text,
  /** Which protocol carried it, e.g. `openai-responses`. */
  api: text,
  /** The wire type, e.g. `function_call`. */
  type: text,
  /** Pairs call and result. */
  callId: v.optional(text),
  /** Addresses the stored item that held the call. */
  itemId: v.optional(text),
  /** Addresses the stored item that held the result. */
  outputId: v.optional(text),
  origin: v.picklist(ID_ORIGINS, `must be one of ${ID_ORIGINS.join(', ')}`),
})

/** Where a call came from on the wire, with the provider's own ids. */
export type WireReference = Readonly<v.InferOutput<typeof wireReferenceSchema>>

/** A wire reference, copied and frozen. */
export const wireReferenceField = v.pipe(
  wireReferenceSchema,
  v.transform((wire): WireReference => Object.freeze(wire)),
)

/** A frozen copy of the reference, or nothing if a record would refuse it. */
export function readWireReference(wire: unknown): WireReference | undefined {
  const { success, output } = v.safeParse(wireReferenceField, wire)
  return success ? output : undefined
}

/** Opaque state, sent only to the provider that made it. */
const providerDataSchema = v.strictObject({
  api: text,
  endpoint: v.optional(text),
  modelFamily: v.optional(text),
  data: jsonField,
})

/** Opaque state of a provider, sent only to the same provider again. */
export type ProviderData = Readonly<v.InferOutput<typeof providerDataSchema>>

/** A provider's opaque state, copied and deep-frozen. */
export const providerDataField = v.pipe(
  providerDataSchema,
  v.transform((state): ProviderData => Object.freeze(state)),
)
