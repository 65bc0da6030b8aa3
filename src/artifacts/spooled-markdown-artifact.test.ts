import { describe, expect, it } from 'vitest'
import { askArtifact as ask } from '../../test/ask-artifact.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { MarkdownBlock } from './markdown/markdown-blocks.ts'
import type { BlockPosition } from './query/cursor.ts'
import { SpooledMarkdownArtifact } from './spooled-markdown-artifact.ts'

const spool = memorySpool()
const markdown = async (text: string) => new SpooledMarkdownArtifact(await spool.write(text))

const GUIDE = `---
title: # not a heading
---
# Guide ##

Read [the docs](https://docs.example "Docs") and <https://auto.example>.

\`\`\`js title="a"
# not a heading, [not](a-link)
\`\`\`

Set-up
------

<!-- # hidden -->
1. Install:
   ~~~sh
   npm install
   ~~~
2. See [faq], [constructor] and ![logo](logo.png).

### Details
#hashtag is text

## Next
[faq]: https://faq.example/page
Code \`[x](y)\` is not a link.`

describe('SpooledMarkdownArtifact', () => {
  it('finds headings of both kinds and none in code, comments or front matter', async () => {
    const headings = await (await markdown(GUIDE)).headings()
    expect(headings.map(({ level, text, line }) => [level, text, line])).toEqual([
      [1, 'Guide', 3],
      [2, 'Set-up', 11],
      [3, 'Details', 21],
      [2, 'Next', 24],
    ])
  })

  it('finds code blocks with language and lines', async () => {
    const artifact = await markdown(GUIDE)
    const blocks = await artifact.codeBlocks()
    expect(blocks.map(({ language, line, end }) => [language, line, end])).toEqual([
      ['js', 7, 10],
      ['sh', 16, 19],
    ])
    expect(await artifact.cat(8, 9)).toEqual(['# not a heading, [not](a-link)'])
    expect(await (await markdown('~~~\nopen')).codeBlocks()).toEqual([
      { kind: 'code', line: 0, language: '', end: 2 },
    ])
  })

  it('finds links, references resolved, and none in code', async () => {
    expect(await (await markdown(GUIDE)).links()).toEqual([
      { line: 5, text: 'the docs', url: 'https://docs.example' },
      { line: 5, text: 'https://auto.example', url: 'https://auto.example' },
      { line: 19, text: 'faq', url: 'https://faq.example/page' },
      { line: 19, text: 'logo', url: 'logo.png' },
    ])
  })

  it('finds every link of a long line, wherever it has to be cut', async () => {
    const rows = Array.from(
      { length: 30 },
      (_, i) => `${'word '.repeat(i % 7)}[a ${i}](http://x/${i}) and ![p](q) or [the ${i}][ref] 👋`,
    )
    const definition = '\n\n[ref]: http://ref\n'
    const urls = async (text: string) =>
      (await (await markdown(text + definition)).links()).map((link) => link.text + link.url)
    const expected = await urls(rows.join('\n\n'))
    expect(expected).toHaveLength(90)
    for (let pad = 0; pad < 120; pad++) {
      expect(await urls('x'.repeat(pad) + rows.join(' '))).toEqual(expected)
    }
  })

  it('gives a section with its subsections, by text or by line', async () => {
    const artifact = await markdown(GUIDE)
    expect(await artifact.section('## set-up')).toMatchObject({ start: 11, end: 24 })
    expect(await artifact.section('21')).toMatchObject({ start: 21, end: 24 })
    await expect(artifact.section('Missing')).rejects.toThrow(
      'There is no heading `Missing`. The first ones are: Guide; Set-up; Details; Next.',
    )
  })

  it('gets through a fence that it cannot pass in one go', async () => {
    const fence = `\`\`\`js\n${'# x\n'.repeat(20_000)}\`\`\`\n# behind\n`
    const artifact = await markdown(`---\ntitle: x\n---\n<!--\n# none\n-->\n${fence}`)
    const seen: MarkdownBlock[] = []
    let place: BlockPosition | undefined = { line: 0 }
    let rounds = 0
    for (; place !== undefined && rounds < 5_000; rounds++) {
      const { line: start, ...inside }: BlockPosition = place
      place = await artifact.blocks({ start, ...inside, maxMs: 0 }, (block) => seen.push(block) > 0)
    }
    expect(rounds).toBeGreaterThan(1)
    expect(seen).toEqual([
      { kind: 'code', line: 6, language: 'js', end: 20_008 },
      { kind: 'heading', line: 20_008, level: 1, text: 'behind' },
    ])
  })

  it('reads hostile text in bounded slices', async () => {
    const hostile = [
      '['.repeat(60_000),
      '[a]('.repeat(15_000),
      '*a_ '.repeat(15_000),
      '> '.repeat(30_000),
      `# ${' '.repeat(60_000)}#`,
      '`'.repeat(60_000),
      '- '.repeat(30_000),
      '<a '.repeat(20_000),
    ]
    for (const line of hostile) {
      const artifact = await markdown(`${line}\n`.repeat(4))
      const before = performance.now()
      await artifact.headings()
      await artifact.links()
      expect(performance.now() - before).toBeLessThan(1_000)
    }
  })
})

describe('forged Markdown tools', () => {
  it('answer in words that a model can act on', async () => {
    const artifact = await markdown(GUIDE)
    expect(await ask(artifact, 'markdown_headings', { depth: 2 })).toBe(
      '3: # Guide\n11: ## Set-up\n24: ## Next',
    )
    expect(await ask(artifact, 'markdown_section', { heading: 'Details' })).toBe(
      '21: ### Details\n22: #hashtag is text\n23: ',
    )
    expect(await ask(artifact, 'markdown_section', { heading: 'x' })).toMatch(/^Error: There is no/)
    expect(await ask(artifact, 'markdown_code_blocks', { language: 'SH' })).toBe(
      '16: sh, up to before line 19',
    )
    expect(await ask(artifact, 'markdown_links')).toContain('19: faq -> https://faq.example/page')
    expect(await artifact.preview()).toBe(
      'its first headings: # Guide; ## Set-up; ### Details; ## Next',
    )
  })

  it('page through headings and a long section by cursor', async () => {
    const chapters = Array.from({ length: 1_200 }, (_, i) => `## Chapter ${i}\n\ntext`).join('\n')
    const artifact = await markdown(`# Book\n${chapters}`)
    for (const [name, args, rows] of [
      ['markdown_headings', {}, 1_201],
      ['markdown_section', { heading: 'Book' }, 3_601],
    ] as const) {
      const seen: string[] = []
      let cursor: string | undefined
      for (let pages = 0; pages < 50; pages++) {
        const answer = await ask(artifact, name, { ...args, cursor })
        seen.push(...answer.split('\n').filter((row) => /^\d+:/.test(row)))
        cursor = /cursor "([^"]+)"/.exec(answer)?.[1]
        if (cursor === undefined) break
      }
      expect([seen.length, new Set(seen).size]).toEqual([rows, rows])
    }
  })
})
