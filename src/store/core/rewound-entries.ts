import type { Entry, EntryOf } from '../entry.ts'
import { columnText, decodeEntry } from '../rows/entry-text.ts'
import type { StoreDriver } from '../rows/store-driver.ts'

/** The entries from a message up to the rewind that takes it back. */
interface Range {
  readonly from: number
  readonly to: number
}

const PAGE = 500

/** Tells which entries of a conversation no longer count. */
export class RewoundEntries {
  readonly #driver: Pick<StoreDriver, 'text'>
  readonly #id: string
  readonly #ranges: readonly Range[]

  private constructor(driver: Pick<StoreDriver, 'text'>, id: string, ranges: readonly Range[]) {
    this.#driver = driver
    this.#id = id
    this.#ranges = ranges
  }

  static async of(driver: Pick<StoreDriver, 'find' | 'text'>, id: string): Promise<RewoundEntries> {
    const ranges: Range[] = []
    for (let after = 0; ; ) {
      const page = { after, limit: PAGE, descending: false }
      const rows = await driver.find({ conversation: id, kind: 'rewind' }, page)
      for (const row of rows) {
        const { message } = (decodeEntry(id, row) as EntryOf<'rewind'>).data
        const begin = await driver.text(id, 'message', columnText(message))
        if (begin !== undefined) ranges.push({ from: begin.seq, to: row.seq })
      }
      after = rows.at(-1)?.position ?? after
      if (rows.length < PAGE) return new RewoundEntries(driver, id, ranges)
    }
  }

  /** Whether an entry no longer counts. A newer record of a call that still counts does. */
  async has(entry: Entry): Promise<boolean> {
    const range = this.#ranges.find(({ from, to }) => from <= entry.seq && entry.seq < to)
    if (range === undefined) return false
    const { supersedes } = entry.data as { readonly supersedes?: unknown }
    if (entry.kind !== 'settlement' || typeof supersedes !== 'string') return true
    const before = await this.#driver.text(this.#id, 'settlement', columnText(supersedes))
    return before === undefined || before.seq >= range.from
  }
}
