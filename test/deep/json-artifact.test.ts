import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SpooledJsonArtifact } from '../../src/artifacts/spooled-json-artifact.ts'
import { fileSpool } from '../../src/stores/fs/file-spool.ts'
import { askArtifact } from '../ask-artifact.ts'
import { cpuTime } from '../cpu-time.ts'

const BYTES = 100_000_000
const MEMORY = 100_000_000
const user = (id: number) => ({
  id,
  name: `user ${id}`,
  tags: ['a', 'b', String(id % 7)],
  nested: { score: id / 4, active: id % 2 === 0, note: 'text with "quotes" and ünïcode' },
})

let folder = ''
let array: SpooledJsonArtifact
let lines: SpooledJsonArtifact
let huge: SpooledJsonArtifact
let count = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-json-'))
  const spool = fileSpool(folder)
  array = new SpooledJsonArtifact(await spool.write(users('[', ',', ']')))
  lines = new SpooledJsonArtifact(await spool.write(users('', '\n', '\n')))
  huge = new SpooledJsonArtifact(await spool.write(oneString()))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('JSON of 100 MB', () => {
  it.each([
    ['length', async (json: SpooledJsonArtifact) => expect(await json.length()).toBe(count)],
    [
      'slice at the end',
      async (json: SpooledJsonArtifact) =>
        expect(await json.slice(count - 2, count)).toEqual([user(count - 2), user(count - 1)]),
    ],
    [
      'keys',
      async (json: SpooledJsonArtifact) =>
        expect(await json.keys()).toEqual(['id', 'name', 'tags', 'nested']),
    ],
    [
      'pluck',
      async (json: SpooledJsonArtifact) =>
        expect(await json.pluck('nested.score', { start: count - 3 })).toEqual(
          [3, 2, 1].map((back) => (count - back) / 4),
        ),
    ],
    [
      'filter',
      async (json: SpooledJsonArtifact) =>
        expect(await json.filter({ field: 'id', operator: 'equals', value: count - 1 })).toEqual([
          user(count - 1),
        ]),
    ],
    [
      'get',
      async (json: SpooledJsonArtifact) =>
        expect(await json.get(`[${count - 1}].name`)).toBe(`user ${count - 1}`),
    ],
  ])('answers %s in flat memory, whether an array or NDJSON', async (_, act) => {
    for (const json of [array, lines]) {
      const begun = cpuTime()
      expect(await grownWhile(() => act(json))).toBeLessThan(MEMORY)
      expect(cpuTime() - begun).toBeLessThan(20_000)
    }
  })

  it('pages from the end of one answer to the next without reading what came before', async () => {
    const near = { start: count - 1_000, limit: 1 }
    let cursor: string | undefined
    let first = ''
    // On a busy machine the way to the end may take more than one answer.
    for (let answers = 0; answers < 20 && !first.startsWith(`${near.start}:`); answers++) {
      first = await askArtifact(array, 'json_slice', { ...near, cursor })
      cursor = /cursor "([^"]+)"/.exec(first)?.[1]
    }
    const begun = cpuTime()
    const next = await askArtifact(array, 'json_slice', { cursor, limit: 1 })
    expect(next).toContain(JSON.stringify(user(count - 999)))
    expect(cpuTime() - begun).toBeLessThan(300)
  })

  it('passes over one string of 100 MB without holding it', async () => {
    expect(
      await grownWhile(async () => expect(await huge.keys()).toEqual(['big', 'after'])),
    ).toBeLessThan(MEMORY)
    expect(
      await grownWhile(async () => expect(await huge.slice(0, 2)).toEqual([null, 1])),
    ).toBeLessThan(MEMORY)
    expect(await huge.get('after')).toBe(1)
    await expect(huge.get('big')).rejects.toThrow('more than 1000000 bytes')
    expect(await huge.length()).toBe(2)
  })
})

async function* users(open: string, between: string, close: string): AsyncGenerator<string> {
  let text = open
  let size = 0
  count = 0
  while (size < BYTES) {
    const item = (count === 0 ? '' : between) + JSON.stringify(user(count++))
    text += item
    size += item.length
    if (text.length < 1_000_000) continue
    yield text
    text = ''
  }
  yield text + close
}

async function* oneString(): AsyncGenerator<string> {
  yield '{"big":"'
  for (let i = 0; i < 100; i++) yield 'x'.repeat(1_000_000)
  yield '","after":1}'
}

/** How far resident memory rises above where it began. */
async function grownWhile(act: () => Promise<unknown>): Promise<number> {
  const begun = process.memoryUsage().rss
  let most = begun
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 5)
  await act()
  clearInterval(timer)
  return Math.max(most, process.memoryUsage().rss) - begun
}
