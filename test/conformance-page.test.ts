import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inRoot } from '../scripts/project.mjs'

const PAGES = ['docs/conformance.md', 'docs/conformance-providers.md']
const read = (path: string) => readFileSync(inRoot(path), 'utf8')
const files = ['src', 'test', 'docs', 'examples'].flatMap((folder) =>
  readdirSync(inRoot(folder), { recursive: true, encoding: 'utf8' }).map(
    (path) => `${folder}/${path.replaceAll('\\', '/')}`,
  ),
)

/** A file by the end of its path, so that it may move to another folder; `*` stands for anything. */
function isFile(name: string): boolean {
  const parts = name.split('*').map((part) => part.replaceAll(/[$()+.?[\\\]^{|}]/g, '\\$&'))
  const pattern = new RegExp(`(?:^|/)${parts.join('.+')}$`)
  return files.some((file) => pattern.test(file))
}

const namesIn = (text: string) =>
  [...text.matchAll(/`([\w*./-]+\.(?:test\.ts|ts|mjs|md))`/g)].map(([, name = '']) => name)

const rowsOf = (text: string) =>
  text.split('\n').filter((line) => /^\| (?!promise |demand )/.test(line))

describe.each(PAGES)('%s', (page) => {
  it('names files that exist', () => {
    expect(namesIn(read(page)).filter((name) => !isFile(name))).toEqual([])
  })

  it('names a test or an example in every row', () => {
    const rows = rowsOf(read(page))
    expect(rows.length).toBeGreaterThan(20)
    const bare = rows.filter((row) => !namesIn(row).some((name) => /\.test\.ts$|\.mjs$/.test(name)))
    expect(bare).toEqual([])
  })
})
