import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bank } from '../../../test/bank.ts'
import type { JsonObject, PlainObject } from '../../core/json/json.ts'
import type { Grant, GrantRequest } from '../../store/grant.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { encodeGrant } from '../../store/rows/grant-row.ts'
import type { Store } from '../../store/store.ts'
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import type { RunnerOptions } from '../options/option-table.ts'
import type { GateAnswer } from './gate-answer.ts'

const ANY = { inputSchema: { type: 'object' } } as const satisfies Partial<ToolOptions>
const EXACT: GrantRequest = { for: 'conversation' }
const some = (...members: readonly string[]) => ({ ...EXACT, members })

/** Arguments as a model writes them, so that nothing is lost on the way. */
type Written = string

/** The name of an attack, what was approved and granted, and what is tried then. */
type LookAlike = readonly [
  name: string,
  approved: Written,
  grant: GrantRequest & { readonly members?: readonly string[] },
  tried: Written,
]

const LOOK_ALIKES: readonly LookAlike[] = [
  ['a member more', '{"to":"ann"}', EXACT, '{"to":"ann","sum":1}'],
  ['a member less', '{"to":"ann","sum":1}', EXACT, '{"to":"ann"}'],
  ['a member more that is null', '{"to":"ann"}', EXACT, '{"to":"ann","sum":null}'],
  ['the granted member in other case', '{"to":"ann"}', some('to'), '{"to":"Ann"}'],
  ['a space behind the text', '{"to":"ann"}', some('to'), '{"to":"ann "}'],
  ['another Unicode form of the text', '{"to":"Zo\\u00eb"}', some('to'), '{"to":"Zoe\\u0308"}'],
  ['a letter of another script', '{"to":"anna"}', some('to'), '{"to":"\\u0430nna"}'],
  ['an invisible character', '{"to":"ann"}', some('to'), '{"to":"ann\\u200b"}'],
  ['a name in another script', '{"to":"ann"}', some('to'), '{"t\\u043e":"ann"}'],
  ['a number as text', '{"sum":1}', some('sum'), '{"sum":"1"}'],
  ['a number that is nearly the same', '{"sum":1}', some('sum'), '{"sum":1.0000000000000002}'],
  [
    'a number beyond the safe ones',
    '{"sum":9007199254740991}',
    some('sum'),
    '{"sum":9007199254740993}',
  ],
  ['true for 1', '{"sum":1}', some('sum'), '{"sum":true}'],
  ['null for nothing', '{"to":"","sum":1}', some('to'), '{"to":null,"sum":1}'],
  ['an empty list for an empty object', '{"to":{}}', some('to'), '{"to":[]}'],
  ['a list in another order', '{"to":[1,2]}', some('to'), '{"to":[2,1]}'],
  ['an object with the keys of a list', '{"to":[1]}', some('to'), '{"to":{"0":1}}'],
  ['a nested member more', '{"to":{"id":1}}', some('to'), '{"to":{"id":1,"all":true}}'],
  ['a nested member less', '{"to":{"id":1,"cap":5}}', some('to'), '{"to":{"id":1}}'],
  ['a nested value of another kind', '{"to":{"id":1}}', some('to'), '{"to":{"id":[1]}}'],
  ['the member in a prototype', '{"to":"ann"}', some('to'), '{"__proto__":{"to":"ann"}}'],
  ['a nested prototype', '{"to":{"id":1}}', some('to'), '{"to":{"__proto__":{"id":1}}}'],
  ['a prototype beside the member', '{"to":{"id":1}}', EXACT, '{"to":{"id":1,"__proto__":{}}}'],
  ['a member that every object inherits', '{"constructor":"x"}', some('constructor'), '{}'],
  ['the member twice', '{"to":"ann"}', some('to'), '{"to":"ann","to":"eve"}'],
  ['text that looks like JSON', '{"to":"ann","sum":1}', EXACT, '{"to":"ann\\",\\"sum\\":1"}'],
  ['a longer text', `{"to":"${'a'.repeat(300)}"}`, some('to'), `{"to":"${'a'.repeat(301)}"}`],
]

/** A bank whose next call is written by hand. */
function counter(options: RunnerOptions = {}, tool: Partial<ToolOptions> = {}) {
  const due = new Map<string, readonly Written[]>()
  const made = bank(
    {
      executor: async ({ conversation }) => {
        const calls = (due.get(conversation) ?? []).map((args) => ({ tool: 'pay', args }))
        due.delete(conversation)
        return calls.length > 0 ? { calls } : { answer: 'Done.' }
      },
      ...options,
    },
    { ...ANY, ...tool },
  )
  const write = (conversation: string, written: readonly Written[], context?: unknown) => {
    due.set(conversation, written)
    return made.runner.run({ conversation, message: 'Pay.', context })
  }
  const grant = async (
    approved: Written,
    { members, ...given }: LookAlike[2],
    context?: unknown,
  ) => {
    const { gates } = await write('c', [approved], context)
    const [gate] = gates
    const args = members?.map((name) => [name, gate?.args?.[name]] as const)
    const pattern = args && { args: Object.fromEntries(args) as PlainObject }
    const decision = { gate: gate?.id ?? '', approve: true, decidedBy: 'ada' }
    const decisions = [{ ...decision, grant: { ...given, ...pattern } }]
    return made.runner.resume({ conversation: 'c', decisions })
  }
  return { ...made, write, grant }
}

const sorted = (written: Written): Written => {
  const entries = Object.entries(JSON.parse(written) as JsonObject).toReversed()
  return `{${entries.map(([key, value]) => ` ${JSON.stringify(key)} : ${JSON.stringify(value)}`).join(',')}}`
}

describe('arguments that look like the granted ones', () => {
  it.each(LOOK_ALIKES)('are not covered: %s', async (_, approved, grant, tried) => {
    const { ran, store, write, grant: approve } = counter()
    await approve(approved, grant)
    expect(ran.length).toBe(1)
    // The granted call itself, written another way, is covered: the grant works.
    const again = await write('c', [sorted(approved)])
    expect(again.toolCalls[0]?.approvedBy).toEqual({ grant: (await store.grants())[0]?.id })
    const outcome = await write('c', [tried])
    expect([outcome.toolCalls.map(({ settlement }) => settlement), ran.length]).toEqual([
      outcome.status === 'suspended' ? [] : ['refused'],
      2,
    ])
    expect((await store.grants())[0]?.used).toBe(1)
  })
})

/** What changed since the grant, as another runner on the same store, or as a deed. */
type Change = (made: ReturnType<typeof counter>, grant: Grant) => Promise<unknown> | undefined

/** The name of an attack, the grant, what changes, and where the call is made then. */
type Elsewhere = readonly [
  name: string,
  grant: GrantRequest,
  change: Change,
  then: {
    readonly conversation?: string
    readonly context?: unknown
    readonly tool?: Partial<ToolOptions>
    readonly options?: RunnerOptions
  },
]

const ALL: GrantRequest = { for: 'conversation', args: {} }
const OURS: GrantRequest = { for: 'subject', args: {} }
const nothing = () => undefined
const uma = { user: 'uma' }

const ELSEWHERE: readonly Elsewhere[] = [
  ['another description', ALL, nothing, { tool: { description: 'Pays, and tells everybody.' } }],
  [
    'another schema',
    ALL,
    nothing,
    { tool: { inputSchema: { type: 'object', properties: { all: { type: 'boolean' } } } } },
  ],
  ['another effect', ALL, nothing, { tool: { effect: 'idempotent' } }],
  ['another conversation', ALL, nothing, { conversation: 'd' }],
  ['a conversation named like one inside', ALL, nothing, { conversation: 'c/inner' }],
  ['a conversation named like the scope', ALL, nothing, { conversation: 'conversation:c' }],
  ['another subject', OURS, nothing, { conversation: 'd', context: { user: 'eve' } }],
  ['a subject in other case', OURS, nothing, { conversation: 'd', context: { user: 'Uma' } }],
  ['no subject', OURS, nothing, { conversation: 'd', context: { user: '' } }],
  ['a subject that is no text', OURS, nothing, { conversation: 'd', context: { user: ['uma'] } }],
  ['no context', OURS, nothing, { conversation: 'd', context: undefined }],
  [
    'a runner without subjects',
    OURS,
    nothing,
    { conversation: 'd', options: { subject: undefined } as never },
  ],
  [
    'a conversation named like the subject',
    OURS,
    nothing,
    { conversation: 'subject:uma', context: {} },
  ],
  [
    'a conversation that heard a stranger',
    ALL,
    nothing,
    { tool: { effect: 'write', trust: 'third-party' } },
  ],
  ['after it was used up', { ...ALL, uses: 1 }, ({ write }) => write('c', ['{"n":1}'], uma), {}],
  [
    'after it was revoked',
    ALL,
    ({ store }, { id }) => store.revokeGrant(id, { decidedBy: 'ada' }),
    {},
  ],
  ['after the conversation was deleted', ALL, ({ store }) => store.delete('c'), {}],
]

describe('a call that the person did not grant', () => {
  it.each(ELSEWHERE)('waits: %s', async (name, grant, change, then) => {
    const subject = (context: unknown) => (context as { user: string }).user
    const isTainting = name.includes('stranger')
    const tool = isTainting ? (then.tool ?? {}) : {}
    const made = counter({ subject }, tool)
    await made.grant('{"n":1}', grant, uma)
    const [given] = await made.store.grants()
    await change(made, given as Grant)
    const other = counter(
      { subject, store: made.store, ...then.options },
      { ...tool, ...then.tool },
    )
    const context = 'context' in then ? then.context : uma
    const outcome = await other.write(then.conversation ?? 'c', ['{"n":1}'], context)
    expect([outcome.status, other.ran]).toEqual(['suspended', []])
  })

  it('waits after the grant has expired', async () => {
    let now = 1000
    const clock = { now: () => now }
    const store = memoryStore({ clock })
    const { grant, write, ran } = counter({ store, testing: { clock } })
    await grant('{"n":1}', { ...ALL, until: 5000 })
    expect((await write('c', ['{"n":2}'])).status).toBe('completed')
    now = 5000
    expect([(await write('c', ['{"n":3}'])).status, ran.length]).toEqual(['suspended', 2])
  })

  it.each<[string, object]>([
    ['an id of its own', { grant: { ...ALL, id: 'mine' } }],
    ['another subject', { grant: { for: 'subject', subject: 'eve' } }],
    ['another conversation', { grant: { ...ALL, conversation: 'd' } }],
    ['members in a prototype', { grant: Object.create(ALL) as object }],
    ['more than was approved', { grant: { ...ALL, args: { n: 2 } } }],
    ['a refusal', { approve: false, grant: ALL }],
    ['edited arguments', { args: { n: 2 }, grant: ALL }],
  ])('cannot be granted by an answer with %s', async (_, more) => {
    const { runner, store, write } = counter()
    const { gates } = await write('c', ['{"n":1}'])
    const answer = { gate: gates[0]?.id, approve: true, decidedBy: 'eve', ...more }
    const resume = runner.resume({ conversation: 'c', decisions: [answer] as GateAnswer[] })
    await expect(resume).rejects.toMatchObject({ code: 'E_INVALID_DECISION' })
    expect([await store.grants(), (await store.openGates('c')).length]).toEqual([[], 1])
  })

  it('cannot be granted where the store does not keep the value', async () => {
    const redact = ({ kind }: { kind: string }) => (kind === 'gate-opened' ? ['/args/pin'] : [])
    const store = memoryStore({ redact })
    const { grant, write } = counter({ store })
    await expect(grant('{"pin":"1234","n":1}', EXACT)).rejects.toThrow(/does not keep/)
    expect((await write('c', ['{"pin":"[redacted]","n":1}'])).status).toBe('suspended')
  })
})

describe('the rows of grants', () => {
  let folder: string
  let files = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bobbin-grants-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('give the last use to one of two runners on one file', async () => {
    const path = join(folder, `${++files}.db`)
    const stores = [sqliteStore(path), sqliteStore(path)] as const
    const subject = () => 'uma'
    const one = counter({ store: stores[0], subject })
    const two = counter({ store: stores[1], subject })
    await one.grant('{"n":1}', { ...OURS, uses: 3 })
    const names = Array.from({ length: 6 }, (_, i) => `turn ${i}`)
    const turns = names.map((name, i) => (i % 2 === 0 ? one : two).write(name, ['{"n":1}']))
    const statuses = (await Promise.all(turns)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      ...['completed', 'completed', 'completed'],
      ...['suspended', 'suspended', 'suspended'],
    ])
    expect(await stores[0].grants()).toMatchObject([{ used: 3, uses: 3 }])
    expect(one.ran.length + two.ran.length).toBe(1 + 3)
    for (const name of ['c', ...names]) {
      expect((await stores[1].verify({ conversation: name })).faults).toEqual([])
    }
    for (const store of stores) await store.close()
  })

  const rewritten = (grant: Grant) => {
    const { body, digest, shape, pattern, scope, state } = encodeGrant(grant)
    return { body, digest, shape, pattern, scope, state }
  }
  type Forge = (
    grant: Grant,
    row: ReturnType<typeof encodeGrant>,
  ) => Readonly<Record<string, unknown>>

  it.each<[string, Forge, fault: string]>([
    ['other arguments, with its digests', (grant) => rewritten({ ...grant, args: {} }), 'edited'],
    [
      'another tool definition',
      (grant) => rewritten({ ...grant, definition: 'd'.repeat(64) }),
      'edited',
    ],
    ['more uses', (grant) => rewritten({ ...grant, uses: 100 }), 'edited'],
    ['no end', (grant) => rewritten({ ...grant, expiresAt: 9e15 }), 'edited'],
    ['tainted calls too', (grant) => rewritten({ ...grant, tainted: true }), 'edited'],
    ['another subject', (grant) => rewritten({ ...grant, subject: 'eve' }), 'edited'],
    [
      'an index that finds it for other arguments',
      (_, row) => ({ pattern: row.pattern }),
      'edited',
    ],
    [
      'a text without its digest',
      (grant) => ({ body: rewritten({ ...grant, args: {} }).body }),
      'edited',
    ],
    [
      'a row of its own',
      (grant) => ({ ...rewritten({ ...grant, id: 'forged', args: {} }), id: 'forged' }),
      'inserted',
    ],
  ])('that were forged cover nothing, and `verify` reports them: %s', async (_, forge, fault) => {
    const path = join(folder, `${++files}.db`)
    const store: Store = sqliteStore(path)
    const subject = (context: unknown) => context as string
    const made = counter({ store, subject })
    const until = Date.now() + 600_000
    await made.grant('{"n":1}', { for: 'subject', args: { n: 1 }, until, uses: 1 }, 'uma')
    const [grant] = await store.grants()
    // What a row for the call that is tried would be found by.
    const wanted = encodeGrant({ ...(grant as Grant), args: { n: 2 } })
    const change = Object.entries(forge(grant as Grant, wanted))
    const database = new Database(path)
    const sets = change.map(([name]) => `${name} = ?`).join(', ')
    database.prepare(`UPDATE bobbin_grants SET ${sets}`).run(change.map(([, value]) => value))
    database.close()
    for (const user of ['uma', 'eve']) {
      const outcome = await made.write(`of ${user}`, ['{"n":2}'], user)
      expect([outcome.status, made.ran.length]).toEqual(['suspended', 1])
    }
    const { faults } = await store.verify({ conversation: 'c' })
    expect(faults).toMatchObject([{ fault, part: 'grant' }, ...(fault === 'inserted' ? [{}] : [])])
    await store.close()
  })

  it.each<[string, string]>([
    ['it says that it was used less often', '"used":0'],
    ['it says that it was given later', '"createdAt":9999999999999'],
  ])('that were changed afterwards do not fit the calls that they covered: %s', async (_, text) => {
    const path = join(folder, `${++files}.db`)
    const store = sqliteStore(path)
    const { grant, write } = counter({ store })
    await grant('{"n":1}', ALL)
    await write('c', ['{"n":2}'])
    const [given] = await store.grants()
    const forged = { ...(given as Grant), ...(JSON.parse(`{${text}}`) as object) } as Grant
    const { body, digest } = encodeGrant(forged)
    const database = new Database(path)
    database.prepare('UPDATE bobbin_grants SET body = ?, digest = ?').run([body, digest])
    database.close()
    const { faults } = await store.verify({ conversation: 'c' })
    expect(faults.map(({ part }) => part)).toContain('grant')
    await store.close()
  })
})
