import { plainScanner } from '../scan/plain-scanner.ts'
import { scanner } from '../scan/scanner.ts'
import type { SpoolReader } from '../spool-reader.ts'

const NEWLINE = 10
/** Below this, loading the fast scanner's memory costs more than it saves. */
const SHORT_BYTES = 4096

/** Gives line numbers for offsets that only grow: from the index, or by counting from the one before. */
export function lineNumbers(reader: SpoolReader): {
  /** Says which bytes are at hand. */
  moveTo(bytes: Uint8Array, base: number): void
  lineAt(offset: number): Promise<number>
} {
  let at: { readonly bytes: Uint8Array; readonly base: number } = {
    bytes: new Uint8Array(),
    base: 0,
  }
  let known: { readonly offset: number; readonly line: number } | undefined
  return {
    moveTo(bytes, base) {
      at = { bytes, base }
    },
    async lineAt(offset) {
      let line: number
      if (known !== undefined && known.offset >= at.base) {
        const between = at.bytes.subarray(known.offset - at.base, offset - at.base)
        const counter = between.length < SHORT_BYTES ? plainScanner : scanner()
        line = known.line + counter.count(between, NEWLINE)
      } else line = await reader.lineAt(offset)
      known = { offset, line }
      return line
    },
  }
}
