import { readPage, writtenPages } from '../scripts/docs/pages.mjs'
import { blocksOf } from '../scripts/docs/samples.mjs'

/** One command of a shell sample in a page, without its comment. */
export interface ShellLine {
  readonly page: string
  readonly line: string
}

/** Every command that the pages show. */
export function shellLines(): readonly ShellLine[] {
  return writtenPages().flatMap((page) => {
    const lines = readPage(page).split('\n')
    return blocksOf(readPage(page))
      .filter(({ language }) => language === 'sh')
      .flatMap(({ start, end }) => lines.slice(start + 1, end))
      .map((line) => ({ page, line: line.replace(/\s+#.*$/, '').trim() }))
      .filter(({ line }) => line !== '')
  })
}
