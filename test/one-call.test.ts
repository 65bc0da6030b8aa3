import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${root}docs/one-call.md`, 'utf8')

/** A name and the file it is said to stand in: "`name` (`file`)", "`name` in `file`", or two cells of a table. */
const places = [...page.matchAll(/`(\w+)`(?: \||\s\(| in|\s+in)\s?`(src\/[^`]+\.ts)`/g)].map(
  ([, name = '', file = '']) => [name, file] as const,
)

/** Whether a text declares the name: at the top level, as a method, or as a member. */
const declares = (text: string, name: string) =>
  new RegExp(
    `(?:function|class|const|interface|type) ${name}\\b|^ {2}(?:async |readonly )?${name}[?(:]`,
    'm',
  ).test(text)

describe('docs/one-call.md', () => {
  it.each(places)('names `%s` in %s, which declares it', (name, file) => {
    expect(existsSync(root + file) && declares(readFileSync(root + file, 'utf8'), name)).toBe(true)
  })

  it('names only files and folders that exist', () => {
    const paths = [...page.matchAll(/`((?:src|test)\/[^`*]*)`/g)].map(([, path = '']) => path)
    expect(paths.filter((path) => !existsSync(root + path))).toEqual([])
  })

  it('names only things that the source has, also where it gives no file', () => {
    const source = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.includes('.test'))
      .map((path) => readFileSync(`${root}src/${path}`, 'utf8'))
      .join('\n')
    const words = new Set(source.match(/\w+/g))
    const names = [...page.matchAll(/`([\w.]+)`/g)].flatMap(([, name = '']) => name.split('.'))
    expect(names.length).toBeGreaterThan(100)
    expect(names.filter((name) => !words.has(name))).toEqual([])
  })

  it('tells a call in about eleven functions of about nine files', () => {
    const story = page.slice(page.indexOf('## The story'), page.indexOf('## The shapes'))
    const rows = [...story.matchAll(/^\| \d+ \| `\w+` \| `(src\/[^`]+)` \|/gm)]
    expect(rows.length).toBe(11)
    expect(new Set(rows.map(([, file]) => file)).size).toBeLessThanOrEqual(11)
  })

  it('names many places, so that this test reads the page right', () => {
    expect(places.length).toBeGreaterThan(40)
  })
})
