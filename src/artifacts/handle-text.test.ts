import { describe, expect, it } from 'vitest'
import { memorySpool } from '../spool/memory-spool.ts'
import { handleText } from './handle-text.ts'
import { SpooledArtifact } from './spooled-artifact.ts'
import { SpooledJsonArtifact } from './spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from './spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from './spooled-table-artifact.ts'

const spool = memorySpool()
const SEVEN =
  'artifact_head, artifact_tail, artifact_grep, artifact_cat, artifact_byte_length, artifact_line_count, artifact_estimate_tokens'

describe('handleText', () => {
  it('tells kind, size and the tools to use', async () => {
    const artifact = new SpooledArtifact(await spool.write('one\ntwo\n'))
    expect(await handleText(artifact, { callId: 'call_1' })).toBe(
      [
        'The result is kept out of the prompt: kind text, 8 bytes, 2 lines.',
        `Read it with callId "call_1" and ${SEVEN}.`,
      ].join('\n'),
    )
  })

  it('shows the structure of what has one', async () => {
    const json = new SpooledJsonArtifact(await spool.write('{"a":1,"b":[]}'))
    expect(await handleText(json, { callId: 'c' })).toContain(
      'Structure: an object; its first keys: a (number), b (array)',
    )
    const table = new SpooledTableArtifact(await spool.write('x,y\n1,2'))
    expect(await handleText(table, { callId: 'c' })).toContain('2 columns: x, y')
    const markdown = new SpooledMarkdownArtifact(await spool.write('# Top'))
    expect(await handleText(markdown, { callId: 'c' })).toContain('first headings: # Top')
  })

  it('lists several results by index', async () => {
    const one = new SpooledArtifact(await spool.write('one'))
    const table = new SpooledTableArtifact(await spool.write('x\n1'))
    const text = await handleText([one, table], { callId: 'c' })
    expect(text).toContain('- index 0: kind text, 3 bytes, 1 line; artifact_head')
    expect(text).toContain('- index 1: kind table, 3 bytes, 2 lines; artifact_head')
    expect(text).toContain('artifact_table_count')
  })

  it('says so when the content is not what its class says', async () => {
    const broken = new SpooledJsonArtifact(await spool.write('oops'))
    expect(await handleText(broken, { callId: 'c' })).toContain(
      'Structure: unknown. This is not JSON',
    )
  })

  it('stays small whatever the content', async () => {
    const wide = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`${i}${'k'.repeat(400)}`, i]),
    )
    const artifacts = [
      new SpooledJsonArtifact(await spool.write(JSON.stringify(wide))),
      new SpooledTableArtifact(await spool.write(Object.keys(wide).join(','))),
      new SpooledMarkdownArtifact(await spool.write(Object.keys(wide).join('\n# '))),
    ]
    for (const artifact of artifacts) {
      expect((await handleText(artifact, { callId: 'c' })).length).toBeLessThan(2_000)
    }
    const many = Array.from({ length: 1_000 }, () => artifacts[0] as SpooledJsonArtifact)
    const listed = await handleText(many, { callId: 'c' })
    expect(listed.length).toBeLessThan(20_000)
    expect(listed).toContain('… and 980 more, up to index 999')
  })
})
