import type { Gate } from '../gate.ts'
import { columnText } from '../rows/entry-text.ts'
import { decodeGate, type GatePlace, originalPlace } from '../rows/gate-row.ts'
import type { GateQuery, StoreDriver } from '../rows/store-driver.ts'
import { isConversationName } from '../rows/store-input.ts'
import type { GateRow } from '../rows/store-rows.ts'

/** Turns are nested less deep than this. */
const MAX_COPIES = 8
const MAX_GATES = 1000

const nameOf = ({ conversation, gate }: GatePlace) => `${conversation}\n${gate}`

/** A page of the gates of all conversations, without originals that have an open copy: both are one decision. */
export async function gatesOnce(
  driver: StoreDriver,
  query: GateQuery,
  after: GateRow | undefined,
): Promise<readonly Gate[]> {
  const copied = originalsAround(driver)
  const page: Gate[] = []
  for (let start = after; ; ) {
    const rows = await driver.gates({ ...query, ...(start && { after: start }) })
    const isLast = rows.length < query.limit
    // A copy is opened after its original: the last rows hold all copies that are left.
    const gates = rows.map(decodeGate)
    const here = originalsOf(gates)
    for (const gate of gates) {
      const { conversation, id } = gate
      const name = nameOf({ conversation, gate: id })
      const isCopied = here.has(name) || (!isLast && (await copied(conversation, name)))
      if (!isCopied) page.push(gate)
      if (page.length === query.limit) return page
    }
    if (isLast) return page
    start = rows.at(-1)
  }
}

const originalsOf = (gates: readonly Gate[]): ReadonlySet<string> =>
  new Set(gates.flatMap((gate) => originalPlace(gate) ?? []).map(nameOf))

/** Tells whether a gate has an open copy in a conversation around its own; reads each of these once. */
function originalsAround(driver: StoreDriver) {
  const known = new Map<string, Promise<ReadonlySet<string>>>()
  const originalsIn = async (conversation: string) => {
    const rows = await driver.gates({ conversation, open: true, limit: MAX_GATES })
    return originalsOf(rows.map(decodeGate))
  }
  return async (conversation: string, name: string): Promise<boolean> => {
    for (const around of namesAround(conversation)) {
      const originals = known.get(around) ?? originalsIn(around)
      known.set(around, originals)
      if ((await originals).has(name)) return true
    }
    return false
  }
}

/** The originals of a gate, the gate and its copies, in this order, as far as they are in this store. */
export async function sameGates(driver: StoreDriver, row: GateRow): Promise<readonly GateRow[]> {
  const same = [row]
  while (same.length < MAX_COPIES) {
    const original = await originalIn(driver, same[0] as GateRow)
    if (original === undefined) break
    same.unshift(original)
  }
  while (same.length < MAX_COPIES) {
    const copy = await copyIn(driver, same.at(-1) as GateRow)
    if (copy === undefined) break
    same.push(copy)
  }
  return same
}

async function originalIn(driver: StoreDriver, row: GateRow): Promise<GateRow | undefined> {
  const place = originalPlace(decodeGate(row))
  if (place === undefined || !isConversationName(place.conversation)) return undefined
  return driver.gate(place.conversation, columnText(place.gate))
}

/** The name of a conversation inside a call begins with that of the conversation around it, and a slash. */
async function copyIn(driver: StoreDriver, row: GateRow): Promise<GateRow | undefined> {
  const { conversation, id } = decodeGate(row)
  const name = nameOf({ conversation, gate: id })
  for (const around of namesAround(conversation)) {
    const rows = await driver.gates({ conversation: around, open: true, limit: MAX_GATES })
    const copy = rows.find((other) => {
      const place = originalPlace(decodeGate(other))
      return place !== undefined && nameOf(place) === name
    })
    if (copy !== undefined) return copy
  }
  return undefined
}

function* namesAround(conversation: string): Generator<string> {
  const names = conversation.split('/')
  for (let count = names.length - 1; count > 0; count--) yield names.slice(0, count).join('/')
}
