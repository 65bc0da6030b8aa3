import * as v from 'valibot'
import { jsonField } from './fields.ts'
import { Given } from './given.ts'
import type { Mutable } from './mutable.ts'
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

/** The mark of a copy that was made here: complete, checked and frozen. */
class Own extends Given {
  readonly #isOwn = true

  static freeze(wire: WireReference): WireReference {
    return Object.freeze(new Own(wire)) as WireReference
  }

  static is(wire: object): boolean {
    return #isOwn in wire
  }
}

/** A wire reference, copied and frozen. */
export const wireReferenceField = withShortcut(
  v.pipe(
    wireReferenceSchema,
    v.transform((wire): WireReference => Own.freeze(wire)),
  ),
  (input, config) => {
    if (typeof input === 'object' && input !== null && Own.is(input)) {
      return input as WireReference
    }
    const wire = readWireReference?.(input, config)
    return wire && Own.freeze(wire)
  },
)

/** A copy of the reference that nobody changes any more; one that a record would refuse stays as it is. */
export function frozenWire(wire: WireReference): WireReference {
  return Own.is(wire) ? wire : (plainWire(wire) ?? Object.freeze({ ...wire }))
}

/** Whether a record takes this reference. */
export function isWireReference(wire: unknown): boolean {
  if (typeof wire !== 'object' || wire === null) return false
  return Own.is(wire) || v.is(wireReferenceSchema, wire)
}

/** Field by field: copies of objects whose shapes keep changing are several times slower. */
function plainWire(wire: WireReference): WireReference | undefined {
  const { provider, api, type, callId, itemId, outputId, origin } = wire
  const copy: Mutable<WireReference> = {
    provider,
    api,
    type,
    origin,
  }
  if (callId !== undefined) copy.callId = callId
  if (itemId !== undefined) copy.itemId = itemId
  if (outputId !== undefined) copy.outputId = outputId
  const isText =
    typeof provider === 'string' &&
    typeof api === 'string' &&
    typeof type === 'string' &&
    isTextOrAbsent(callId) &&
    isTextOrAbsent(itemId) &&
    isTextOrAbsent(outputId)
  const isComplete = isText && ID_ORIGINS.includes(origin) && keyCount(copy) === keyCount(wire)
  return isComplete ? Own.freeze(copy) : undefined
}

const isTextOrAbsent = (value: unknown) => value === undefined || typeof value === 'string'

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
