import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { broken } from '../../../../model/sse.ts'
import { asObject, asText } from '../../../../model/wire/wire-value.ts'
import { askedOf, type ChatCall, isNewKind } from '../wire/wire.ts'

/** A call under way. */
export interface CallSlot {
  readonly key: string
  id: string
  tool: string
  /** Under which member of the call name and arguments come. */
  kind: 'function' | 'custom'
  readonly pieces: string[]
  /** Arguments that came as an object, against the protocol. */
  whole: JsonObject | undefined
  /** The name of a kind that we do not know. */
  newKind: string | undefined
  extras: JsonObject
}

const READ = new Set(['index', 'id', 'type', 'function', 'custom'])

/**
 * Puts the pieces of calls together. `index` is the only key that the protocol guarantees, and servers
 * break even that: it may start at 1, be missing, or be 0 for every call. Ids may be missing, empty,
 * or change from piece to piece; the first one stands. Where two readings are possible and one of them
 * would run a call with arguments that are not its own, the stream counts as broken.
 */
export class CallPieces {
  readonly #slots: CallSlot[] = []
  readonly #byIndex = new Map<number, CallSlot>()

  /** Adds a piece and says which call it belongs to and what it adds to the arguments. */
  add(piece: ChatCall): { readonly slot: CallSlot; readonly delta: string } {
    const { kind, asked } = askedOf(piece)
    const id = asText(piece.id) ?? ''
    const tool = asText(asked.name) ?? ''
    const content = kind === 'custom' ? asked.input : asked.arguments
    const delta = asText(content) ?? ''
    const slot = this.#slotOf(piece, id, tool, delta)
    if (slot.id === '') slot.id = id
    if (slot.tool === '') slot.tool = tool
    if (kind === 'custom') slot.kind = kind
    if (isNewKind(piece)) slot.newKind = asText(piece.type)
    if (delta !== '') slot.pieces.push(delta)
    slot.whole = asObject(content) ?? slot.whole
    for (const name in piece) if (!READ.has(name)) this.#keep(slot, name, piece[name])
    return { slot, delta }
  }

  /** The calls as a whole response would hold them, in the order in which they were first seen. */
  calls(): JsonObject[] {
    return this.#slots.map(({ id, tool, kind, pieces, whole, newKind, extras }) => {
      if (newKind !== undefined) return { id, type: newKind, ...extras }
      const text = pieces.join('')
      const asked = kind === 'custom' ? { input: text } : { arguments: whole ?? text }
      return { id, type: kind, [kind]: { name: tool, ...asked }, ...extras }
    })
  }

  #keep(slot: CallSlot, name: string, value: JsonValue | undefined): void {
    if (value !== undefined && value !== null) slot.extras = { ...slot.extras, [name]: value }
  }

  #slotOf(piece: ChatCall, id: string, tool: string, delta: string): CallSlot {
    const index = Number.isSafeInteger(piece.index) ? (piece.index as number) : undefined
    const current = index === undefined ? this.#withoutIndex(id, tool) : this.#byIndex.get(index)
    if (current !== undefined && !startsAnother(current, id, tool, delta)) return current
    const slot: CallSlot = {
      key: `call.${this.#slots.length}`,
      id: '',
      tool: '',
      kind: 'function',
      pieces: [],
      whole: undefined,
      newKind: undefined,
      extras: {},
    }
    this.#slots.push(slot)
    if (index !== undefined) this.#byIndex.set(index, slot)
    return slot
  }

  #withoutIndex(id: string, tool: string): CallSlot | undefined {
    const known = id === '' ? undefined : this.#slots.find((slot) => slot.id === id)
    if (known !== undefined) return known
    return id !== '' && tool !== '' ? undefined : this.#slots.at(-1)
  }
}

/** Whether a piece that would go to `slot` by its key begins another call. */
function startsAnother(slot: CallSlot, id: string, tool: string, delta: string): boolean {
  if (tool === '') return false // only the first piece of a call has a name
  if (slot.tool === '') return false
  const hasOwnId = id !== '' && slot.id !== '' && id !== slot.id
  if (hasOwnId && tool !== slot.tool) return true
  if (hasOwnId) {
    if (isWhole(slot)) return true
    throw broken('unexpected-event', `the call \`${slot.id}\` continues under the id \`${id}\``)
  }
  if (tool === slot.tool) return id === '' && delta !== '' && isWhole(slot)
  if (id === '' && isWhole(slot)) return true
  throw broken('unexpected-event', `the call of \`${slot.tool}\` continues as \`${tool}\``)
}

/** True when the arguments are complete: a closed JSON object takes no more text. */
function isWhole({ pieces, whole, kind }: CallSlot): boolean {
  if (whole !== undefined || kind === 'custom') return true
  try {
    return asObject(JSON.parse(pieces.join(''))) !== undefined
  } catch {
    return false
  }
}
