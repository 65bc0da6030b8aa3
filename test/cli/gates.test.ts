import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { Store } from '../../src/store/store.ts'
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { inputRequired, linkRequired } from '../../src/tools/person-request.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { cli } from './in-process.ts'

let cwd: string
let store: Store
const ran: unknown[] = []

const options = { description: 'Does it.', inputSchema: { type: 'object' } } as const
const SEAT = {
  type: 'object',
  properties: { row: { type: 'number' } },
  required: ['row'],
  additionalProperties: false,
} as const
const tools = [
  new Tool({
    ...options,
    name: 'pay',
    approval: true,
    trust: 'first-party',
    handler: (args) => String(ran.push(args)),
  }),
  new Tool({ ...options, name: 'ship', external: true }),
  new Tool({
    ...options,
    name: 'seat',
    handler: (_, { input }) =>
      input === undefined ? inputRequired({ message: 'Which seat?', schema: SEAT }) : 'Reserved.',
  }),
  new Tool({
    ...options,
    name: 'sign',
    handler: (_, { input }) =>
      input === undefined
        ? linkRequired({ message: 'Sign in.', url: 'https://a.example/' })
        : 'Signed in.',
  }),
]

let due: readonly { tool: string; args: JsonObject }[] = []
const runner = () =>
  new TurnRunner({
    store,
    tools,
    executor: async () => {
      const calls = due
      due = []
      return calls.length > 0 ? { calls } : { answer: 'Done.' }
    },
  })
async function waiting(tool: string, args: JsonObject = { to: 'ann', sum: 5 }) {
  due = [{ tool, args }]
  const { gates, conversation } = await runner().run({ message: 'Go.' })
  return { gate: gates[0]?.id ?? '', conversation }
}
const resumed = (conversation: string) => runner().resume({ conversation, decisions: [] })
const at = (...args: readonly string[]) =>
  cli([...args, '--store', join(cwd, 'agent.db')], { cwd, env: { USER: 'ada' } })

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'bobbin-gates-'))
  store = sqliteStore(join(cwd, 'agent.db'))
})
afterAll(async () => {
  await store.close()
  rmSync(cwd, { recursive: true })
})

describe('bobbin gates', () => {
  it('lists what waits, with the reason, and lets it be approved by the beginning of its id', async () => {
    const { gate, conversation } = await waiting('pay', { to: 'a\u202enn' })
    const { stdout, code } = await at('gates')
    expect([code, stdout]).toEqual([0, expect.stringContaining(gate)])
    expect(stdout).toContain(conversation)
    expect(stdout).toMatch(/Allow pay \{"to":"a.*nn"\}/)
    expect(stdout).not.toContain('\u202e')
    const [listed] = (await at('gates', '--json')).stdout.trim().split('\n')
    expect(JSON.parse(listed ?? '')).toMatchObject({ id: gate, why: expect.any(String) as string })
    const decided = await at('gates', 'approve', gate.slice(0, 12))
    expect(decided.stdout).toContain(`Gate ${gate} is approved by ada.`)
    expect(decided.stdout).toContain(`bobbin run --resume ${conversation}`)
    const { toolCalls } = await resumed(conversation)
    expect(toolCalls[0]?.approvedBy).toEqual({ gate, decidedBy: 'ada' })
    expect(await at('gates', '-c', conversation)).toMatchObject({ code: 0, stdout: '' })
  })

  it('denies, edits, answers, and reports results, each for the kind that takes it', async () => {
    const denied = await waiting('pay')
    await at('gates', 'deny', denied.gate, '--by', 'bob', '--reason', 'Not today.')
    expect((await resumed(denied.conversation)).toolCalls[0]?.settlement).toBe('denied')
    const edited = await waiting('pay')
    await at('gates', 'approve', edited.gate, '--args', '{"sum":1}')
    await resumed(edited.conversation)
    expect(ran.at(-1)).toEqual({ sum: 1 })
    const seat = await waiting('seat')
    const wrong = await at('gates', 'answer', seat.gate, '--value', '{"row":"first"}')
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/does not fit the schema/),
    ])
    expect((await at('gates', 'answer', seat.gate, '--value', '{"row":3}')).code).toBe(0)
    expect((await resumed(seat.conversation)).toolCalls[0]?.isError).toBe(false)
    const sign = await waiting('sign')
    const { stdout } = await at('gates', '-c', sign.conversation)
    expect(stdout).toContain('https://a.example/')
    expect(stdout).toContain('opens a.example\n')
    expect((await at('gates', 'approve', sign.gate)).code).toBe(1)
    expect((await at('gates', 'done', sign.gate)).code).toBe(0)
    expect((await resumed(sign.conversation)).toolCalls[0]?.settlement).toBe('ok')
    const ship = await waiting('ship')
    expect((await at('gates', 'result', ship.gate, '--value', '{"parcel":7}')).code).toBe(0)
    expect((await resumed(ship.conversation)).toolCalls[0]?.settlement).toBe('ok')
    const lost = await waiting('ship')
    await at('gates', 'result', lost.gate, '--error', 'The lorry is gone.')
    expect((await resumed(lost.conversation)).toolCalls[0]?.settlement).toBe('failed')
  })

  it('grants what it says, and `bobbin grants` lists and revokes it', async () => {
    const { gate, conversation } = await waiting('pay')
    const given = await at('gates', 'approve', gate, '--grant', 'to', '--uses', '9')
    const covered =
      'Every later call of pay in this conversation and its sub-agents, with any arguments that have {"to":"ann"}.'
    expect(given.stdout).toContain(covered)
    await resumed(conversation)
    due = [{ tool: 'pay', args: { to: 'ann', sum: 99 } }]
    const again = await runner().run({ conversation, message: 'Again.' })
    const [grant] = await store.grants({ conversation })
    expect(again.toolCalls.at(-1)?.approvedBy).toEqual({ grant: grant?.id })
    const listed = await at('grants', '-c', conversation)
    expect(listed.stdout).toContain(covered)
    expect(listed.stdout).toContain('used 1 of 9×')
    const revoked = await at('grants', 'revoke', grant?.id.slice(0, 8) ?? '', '--by', 'bob')
    expect(revoked.stdout).toBe(`Grant ${grant?.id} is revoked by bob.\n`)
    expect((await at('grants', '--tool', 'pay', '--json')).stdout).toContain('"revokedBy":"bob"')
    due = [{ tool: 'pay', args: { to: 'ann' } }]
    expect((await runner().run({ conversation, message: 'Again.' })).status).toBe('suspended')
  })

  it.each([
    [['gates', 'grant', 'x'], 'is not known'],
    [['gates', 'approve'], 'needs the id of one gate'],
    [['gates', 'approve', 'none'], 'Unknown gate'],
    [['grants', 'revoke', 'none'], 'Unknown grant'],
    [['grants', 'end'], 'is not known'],
  ])('refuses %j with a sentence', async (args, sentence) => {
    const { code, stderr } = await at(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  })
})
