import * as v from 'valibot'
import { jsonField } from './fields.ts'
import { recordFields, shortcutOf, withShortcut } from './shortcut.ts'

/** How an id came to be: issued for pairing, another id put to that use, or minted here. */
const ID_ORIGINS = ['natural', 'conflated', 'synthetic'] as const

const text = v.string('must be a string')

/** Where a call came from on the wire, with the provider's own ids kept apart and untouched. */
const wireReferenceSchema = recordFields({
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

/** Where a call stood on its wire, with the ids that the provider gave it. */
export type WireReference = Readonly<v.InferOutput<typeof wireReferenceSchema>>

const readWireReference = shortcutOf(wireReferenceSchema)

/** A wire reference, copied and frozen. */
export const wireReferenceField = withShortcut(
  v.pipe(
    wireReferenceSchema,
    v.transform((wire): WireReference => Object.freeze(wire)),
  ),
  (input, config) => {
    const wire = readWireReference?.(input, config)
    return wire && Object.freeze(wire)
  },
)

/** A copy of the reference that nobody changes any more. */
export function frozenWire(wire: WireReference): WireReference {
  const { provider, api, type, callId, itemId, outputId, origin } = wire
  // Field by field: copies of objects whose shapes keep changing are several times slower.
  const copy: { -readonly [K in keyof WireReference]: WireReference[K] } = {
    provider,
    api,
    type,
    origin,
  }
  if (callId !== undefined) copy.callId = callId
  if (itemId !== undefined) copy.itemId = itemId
  if (outputId !== undefined) copy.outputId = outputId
  return Object.freeze(keyCount(copy) === keyCount(wire) ? copy : { ...wire })
}

/** How many keys an object shows, without making a list of them. */
function keyCount(value: object): number {
  let count = 0
  for (const _ in value) count++
  return count
}

/** Opaque state that only the provider that made it may see again. */
const providerDataSchema = v.strictObject({
  api: text,
  endpoint: v.optional(text),
  modelFamily: v.optional(text),
  data: jsonField,
})

/** Opaque state of a provider, replayed only to where it came from. */
export type ProviderData = Readonly<v.InferOutput<typeof providerDataSchema>>

/** A provider's opaque state, copied and deep-frozen. */
export const providerDataField = v.pipe(
  providerDataSchema,
  v.transform((state): ProviderData => Object.freeze(state)),
)
