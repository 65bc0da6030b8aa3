import { memorySpool } from '../../spool/memory-spool.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import type { Store } from '../../store/store.ts'
import { storedResults } from '../../store/stored-results.ts'
import { findCall } from '../command/find-record.ts'
import { usageError } from '../command/usage-error.ts'
import { artifactOf, resultsOf, storedCall, textOf } from './stored-call.ts'

/** A reader for one result of a settled call, and the kind that it was stored as. */
export async function resultReader(
  store: Store,
  id: string,
  index: number,
): Promise<{ readonly reader: SpoolReader; readonly kind: string }> {
  const found = await findCall(store, id)
  const call = storedCall(found)
  const parts = resultsOf(call)
  const part = parts[index]
  const artifact = artifactOf(part)
  if (artifact !== undefined) {
    const reader = await storedResults(store).read(artifact.sha256)
    return { reader, kind: artifact.kind }
  }
  // The answer of an artifact tool, or an error: text on the record itself.
  const text = textOf(part)
  if (text !== undefined) return { reader: await memorySpool().write(text), kind: 'text' }
  throw usageError(
    part === undefined
      ? `The call \`${id}\` of \`${call.tool}\` has no result ${index}; it has ${parts.length}.`
      : `Result ${index} of the call \`${id}\` is not text.`,
  )
}
