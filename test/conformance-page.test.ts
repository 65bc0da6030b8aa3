import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inRoot } from '../scripts/project.mjs'

const FOLDERS = ['src', 'test', 'docs', 'examples']
/** The pages that quote titles, and how many each has at least. */
const PAGES = [
  ['docs/conformance.md', 60],
  ['docs/conformance-providers.md', 45],
  ['docs/conformance-cli.md', 30],
] as const
const read = (path: string) => readFileSync(inRoot(path), 'utf8')
const rowsOf = (path: string) =>
  read(path)
    .split('\n')
    .filter((line) => /^\| (?!promise |demand )/.test(line))
const files = FOLDERS.flatMap((folder) =>
  readdirSync(inRoot(folder), { recursive: true, encoding: 'utf8' }).map(
    (path) => `${folder}/${path.replaceAll('\\', '/')}`,
  ),
)

/** `…` in a quoted title, and `*` in a path, stand for anything. */
function pattern(text: string, wildcard: string): RegExp {
  const parts = text.split(wildcard).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
  return new RegExp(`^${parts.join('.+')}$`)
}

const pathsIn = (text: string) =>
  [...text.matchAll(/`([a-z]+\/[^`\s]+\.[a-z]+)`/g)].map(([, path = '']) => path)

/** Every title that a row quotes, with the test file that is named before it. */
function proofsIn(row: string): { path: string; title: string }[] {
  return row.split(/(?=`(?:src|test)\/[^`\s]+\.test\.ts`)/).flatMap((part) => {
    const path = /^`([^`]+\.test\.ts)`/.exec(part)?.[1]
    if (path === undefined) return []
    return [...part.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ path, title }))
  })
}

/** What stands in quotes behind an opening parenthesis or at the start of a line: titles are among it. */
function titlesOf(path: string): string[] {
  const text = readFileSync(inRoot(path), 'utf8')
  const quoted = text.matchAll(/(?:\(|^)\s*(['"`])((?:(?!\1)[^\\\n]|\\.)+)\1/gm)
  return [...quoted].map(([, , title = '']) => title)
}

describe.each(PAGES)('%s', (page, least) => {
  it('names files that are there', () => {
    const missing = pathsIn(read(page)).filter(
      (path) => !files.some((file) => pattern(path, '*').test(file)),
    )
    expect(missing).toEqual([])
  })

  it('quotes titles that the named test has', () => {
    const proofs = rowsOf(page).flatMap(proofsIn)
    const wrong = proofs.filter(
      ({ path, title }) => !titlesOf(path).some((known) => pattern(title, '…').test(known)),
    )
    expect(wrong).toEqual([])
    expect(proofs.length).toBeGreaterThan(least)
  })

  it('has a proof in every row', () => {
    expect(rowsOf(page).filter((row) => !/\.test\.ts`|`examples\//.test(row))).toEqual([])
  })
})
