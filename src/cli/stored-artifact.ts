import { memorySpool } from '../spool/memory-spool.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import type { Store } from '../store/store.ts'
import { storedResults } from '../store/stored-results.ts'
import { findCall } from './find-record.ts'
import { storedCall } from './list-calls.ts'
import { usageError } from './usage-error.ts'

interface StoredResult {
  readonly $artifact?: { readonly sha256: string; readonly kind: string }
}

/** The reader behind one result of a settled call, and the kind that it was stored as. */
export async function resultReader(
  store: Store,
  id: string,
  index: number,
): Promise<{ readonly reader: SpoolReader; readonly kind: string }> {
  const found = await findCall(store, id)
  const { results, tool } = storedCall(found)
  const parts = (Array.isArray(results) ? results : [results]) as readonly unknown[]
  const part = parts[index]
  const artifact = (part as StoredResult | null)?.$artifact
  if (artifact !== undefined) {
    const reader = await storedResults(store).read(artifact.sha256)
    return { reader, kind: artifact.kind }
  }
  // The answer of an artifact tool, or an error: text on the record itself.
  const text = typeof part === 'string' ? part : (part as { text?: unknown } | undefined)?.text
  if (typeof text === 'string') return { reader: await memorySpool().write(text), kind: 'text' }
  throw usageError(
    part === undefined
      ? `The call \`${id}\` of \`${tool}\` has no result ${index}; it has ${parts.length}.`
      : `Result ${index} of the call \`${id}\` is no text.`,
  )
}
