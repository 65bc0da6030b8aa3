import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Media } from '../src/spool/media.ts'
import { bytesMedia } from '../src/spool/media-reader.ts'
import { memorySpool } from '../src/spool/memory-spool.ts'
import { createStore } from '../src/store/core/create-store.ts'
import type { Entry } from '../src/store/entry.ts'
import { memoryDriver } from '../src/store/memory/memory-driver.ts'
import type { Redact } from '../src/store/rows/redaction.ts'
import type { Store } from '../src/store/store.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import {
  type ScriptedPart,
  type ScriptedStep,
  scriptedModel,
} from '../src/testing/scripted-model.ts'
import { testClock } from '../src/testing/store/test-clock.ts'
import type { Tool } from '../src/tools/tool.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { runs } from './runs.ts'
import { sampleTool } from './turn-samples.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('', 'same', '\ud800', '"\\\u2028', 'x'.repeat(64 * 1024), 'ä'.repeat(70_000)),
)

/** Text that no spool has to be waited for: short, and well formed. */
const steadyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('', 'same', '"\\\u2028'),
)

const callOf = (names: readonly string[], words: fc.Arbitrary<string>) =>
  fc.record(
    {
      call: fc.constantFrom(...names),
      args: fc.oneof(
        fc.record({ q: words }),
        fc.record({ q: fc.string(), __proto__: fc.jsonValue(), b: fc.jsonValue() }),
        fc.constantFrom('{"q":', '{"q":1,"q":2}', '{"q":-0}', '[1]'),
      ),
      id: fc.constantFrom('call_0', 'call_1', 'a\0b', '\ud800', 'x'.repeat(300)),
    },
    { requiredKeys: ['call', 'args'] },
  )

const partsOf = (
  call: ReturnType<typeof callOf>,
  words: fc.Arbitrary<string>,
  size: fc.ArrayConstraints,
): fc.Arbitrary<ScriptedPart[]> =>
  fc.array<ScriptedPart>(
    fc.oneof(
      { weight: 3, arbitrary: call },
      fc.record({ text: words.filter((said) => said !== '') }),
      fc.record({ thought: words }),
    ),
    size,
  )

const scriptOf = (parts: fc.Arbitrary<ScriptedPart[]>, mostAttached: number) =>
  fc.record({
    steps: fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.record({ parts }) },
        fc.record({ parts, error: fc.constant(new Error('gone')) }),
        fc.record({
          parts,
          usage: fc.record({ inputTokens: fc.nat(), outputTokens: fc.constantFrom(1, 2.5, NaN) }),
        }),
      ),
      { maxLength: 5 },
    ),
    message: text.filter((said) => said !== ''),
    attached: fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: mostAttached }),
  })

const NAMES = ['echo', 'fail', 'json', 'none', 'spool', 'ask']

const anyScript = scriptOf(partsOf(callOf(NAMES, text), text, { maxLength: 6 }), 2)

/** Nothing of it waits for a spool or a gate: calls that run at once end in the same order everywhere. */
const steadyScript = scriptOf(
  partsOf(callOf(NAMES.slice(0, 4), steadyText), steadyText, { minLength: 3, maxLength: 8 }),
  0,
)

type Script = typeof anyScript extends fc.Arbitrary<infer T> ? T : never

/** Strange output would make each tool that writes wait for a gate. */
const toolsOf = (trust: 'first-party' | 'third-party') => [
  sampleTool('echo', ({ q = '' }) => q, { trust }),
  sampleTool('fail', ({ q }) => Promise.reject(new Error(`no ${q}`)), { effect: 'write', trust }),
  sampleTool('json', ({ q }) => ({ q: q ?? null, list: [1, 2] }), { effect: 'idempotent', trust }),
  sampleTool('spool', async ({ q = '' }, ctx) => [await ctx.spool(q), await ctx.spool(`${q}!`)]),
  sampleTool('none', () => undefined as never, { trust: 'first-party' }),
  sampleTool('ask', ({ q }) => `asked ${q}`, { effect: 'write', approval: true }),
]

/** Runs a script twice in one conversation, and gives everything that the store has of it. */
async function logOf(
  store: Store,
  conversation: string,
  { steps, message, attached }: Script,
  settings: { readonly tools: readonly Tool[]; readonly concurrency: number },
) {
  let ids = 0
  for (let turn = 0; turn < 2; turn++) {
    const runner = new TurnRunner({
      model: scriptedModel([...(steps as ScriptedStep[]), { parts: [{ text: 'end' }] }]),
      ...settings,
      store,
      testing: { clock: testClock(), sleep: async () => {}, ids: () => `id-${ids++}` },
      approve: async ({ args }) => args?.['q'] !== 'same',
    })
    const attachments = attached.map(
      (bytes) =>
        new Media({
          kind: 'image',
          mimeType: 'image/png',
          filename: 'a',
          trustTier: 'third-party',
          modalityHazard: 'opaque-perceptual',
          reader: bytesMedia(bytes),
        }),
    )
    await runner.run({ conversation, message, attachments })
  }
  const log: Entry[] = []
  for await (const entry of store.entries(conversation)) log.push(entry)
  const digests: string[] = []
  for await (const digest of store.digests(conversation)) digests.push(digest)
  const exported: string[] = []
  for await (const line of store.export(conversation)) exported.push(line)
  const { faults } = await store.verify({ conversation })
  return { log, digests, exported, faults }
}

const hideSome: Redact = ({ kind, data }) =>
  kind === 'settlement' && data['tool'] === 'echo'
    ? ['/results']
    : kind === 'message'
      ? ['/content']
      : []

describe('a turn', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'bobbin-same-log-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each([
    ['as it is', undefined, anyScript, { tools: toolsOf('third-party'), concurrency: 1 }],
    ['redacted', hideSome, anyScript, { tools: toolsOf('third-party'), concurrency: 1 }],
    ['at once', undefined, steadyScript, { tools: toolsOf('first-party'), concurrency: 8 }],
    [
      'at once, redacted',
      hideSome,
      steadyScript,
      { tools: toolsOf('first-party'), concurrency: 8 },
    ],
  ])(
    'leaves the same log in memory and on disk: %s',
    {
      timeout: 60_000,
    },
    async (name, redact, script, settings) => {
      const clock = testClock()
      const randomBytes = (length: number) => new Uint8Array(length).fill(3)
      const options = { clock, randomBytes, ...(redact && { redact }) }
      const disk = sqliteStore(join(folder, `${name}.db`), options)
      let played = 0
      await fc.assert(
        fc.asyncProperty(script, async (given) => {
          const conversation = `c${played++}`
          const memory = createStore(memoryDriver(), { ...options, spool: memorySpool() })
          const held = await logOf(memory, conversation, given, settings)
          const kept = await logOf(disk, conversation, given, settings)
          expect(held.faults).toEqual([])
          expect(kept).toEqual(held)
        }),
        { numRuns: runs(20) },
      )
      await disk.close()
    },
  )
})
