import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../test/runs.ts'
import { Identity, type RawIdentity } from '../text/identity.ts'
import { Memory } from './memory.ts'
import { Message } from './message.ts'
import { Retrievable } from './retrievable.ts'
import { Thought } from './thought.ts'
import { SETTLEMENTS, ToolCall } from './tool-call.ts'

/** Any text, halves of surrogate pairs included: what a model or a provider may send. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 })).map((units) => String.fromCharCode(...units)),
)
const id = text.filter((value) => value !== '')
/** What arguments may hold: strict JSON has no minus zero, no half of a pair, no huge integer. */
const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })
  .filter((value) => !/\d{16}/.test(JSON.stringify(value)))
const args = fc.dictionary(fc.string({ unit: 'grapheme' }), json)
const date = fc.oneof(
  fc.date({ noInvalidDate: true }),
  fc.integer({ min: -8.64e15, max: 8.64e15 }),
  fc.date({ noInvalidDate: true }).map((value) => value.toISOString()),
)
const trust = fc.constantFrom('developer', 'first-party', 'third-party')
const score = fc.double({ min: 0, max: 1, noNaN: true })
const providerData = fc.record({ api: text, data: json })
const identity = fc.record({
  identifier: fc.oneof(id, fc.double({ noNaN: true, noDefaultInfinity: true })),
  representation: text,
})
const common = { id, content: text, createdAt: date }

const toolCall = fc
  .record(
    {
      id,
      tool: text,
      args: fc.oneof(
        args,
        args.map((value) => JSON.stringify(value)),
      ),
      effectiveArgs: args,
      rawArgs: text,
      results: text,
      settlement: fc.constantFrom(...SETTLEMENTS),
      executedBy: fc.constantFrom('runner', 'provider'),
      inline: fc.boolean(),
      fromArtifactTool: fc.boolean(),
      trust,
      wire: fc.record({
        provider: text,
        api: text,
        type: text,
        origin: fc.constantFrom('natural', 'conflated', 'synthetic'),
      }),
      providerData,
      editOf: id,
      supersedes: id,
      createdAt: date,
      updatedAt: date,
      completedAt: date,
    },
    { requiredKeys: ['id', 'tool', 'args', 'results', 'settlement', 'createdAt', 'completedAt'] },
  )
  .map((raw) => ({ ...raw, isComplete: true as const, isError: raw.settlement !== 'ok' }))

/** The record class with what its constructor takes; `undefined` fields are left out. */
const kinds: [
  name: string,
  raw: fc.Arbitrary<object>,
  make: (raw: never) => object,
  back: (json: unknown) => object,
][] = [
  ['ToolCall', toolCall, (raw) => new ToolCall(raw), (value) => ToolCall.fromJSON(value)],
  [
    'Message',
    fc.record({ ...common, role: fc.constantFrom('user', 'assistant'), identity, providerData }),
    (raw) => new Message(raw),
    (value) => Message.fromJSON(value),
  ],
  [
    'Thought',
    fc.record({ ...common, identity, providerData }),
    (raw) => new Thought(raw),
    Thought.fromJSON,
  ],
  [
    'Memory',
    fc.record({ ...common, confidence: score, importance: score, trustTier: trust }),
    (raw) => new Memory(raw),
    Memory.fromJSON,
  ],
  [
    'Retrievable',
    fc.record({ ...common, source: text, score, trustTier: trust }),
    (raw) => new Retrievable(raw),
    Retrievable.fromJSON,
  ],
  ['Identity', identity, (raw) => new Identity(raw), (value) => new Identity(value as RawIdentity)],
]

describe('a record that becomes JSON and comes back', () => {
  it.each(kinds)('is equal and has the same digest: any %s', (_, raws, make, back) => {
    fc.assert(
      fc.property(raws, (raw) => {
        const record = make(raw as never) as { digest: string }
        const restored = back(JSON.parse(JSON.stringify(record))) as { digest: string }
        expect(restored).toEqual(record)
        expect(restored.digest).toBe(record.digest)
      }),
      { numRuns: runs(300) },
    )
  })
})
