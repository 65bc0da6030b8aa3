import type { NewEntry } from '../entry.ts'
import { columnText } from '../rows/entry-text.ts'
import { decodeGrant, grantEnd, usedRow } from '../rows/grant-row.ts'
import type { GrantRow } from '../rows/store-rows.ts'
import { grantState } from '../store-errors.ts'

/** The grant that an entry uses: that of a call which starts. */
function grantUsed(entry: NewEntry): string | undefined {
  const by = entry.kind === 'intent' ? entry.data.approvedBy : undefined
  return by !== undefined && 'grant' in by ? by.grant : undefined
}

/** The grants that an append uses, each once, in an order that all transactions share. */
export function grantsToRead(entries: readonly NewEntry[]): readonly string[] {
  const used = entries.flatMap((entry) => grantUsed(entry) ?? [])
  return used.length === 0 ? used : [...new Set(used.map(columnText))].sort()
}

/** Counts the uses of grants. Throws `E_GRANT_STATE` if one covers nothing any more: of two calls for the last use, one gets it. */
export function useGrants(
  entries: readonly NewEntry[],
  known: ReadonlyMap<string, GrantRow>,
  now: number,
): readonly GrantRow[] {
  const used = new Map<string, GrantRow>()
  for (const entry of entries) {
    const id = grantUsed(entry)
    if (id === undefined) continue
    const row = used.get(columnText(id)) ?? known.get(columnText(id))
    if (row === undefined) throw grantState(id, 'missing')
    const grant = decodeGrant(row)
    const end = grantEnd(grant, now)
    if (end !== undefined) throw grantState(id, end)
    used.set(row.id, usedRow(row, grant))
  }
  return [...used.values()]
}
