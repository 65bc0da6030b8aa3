import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../src/core/json/json.ts'
import type { Store } from '../src/store/store.ts'
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts'
import { inputRequired, linkRequired } from '../src/tools/person-request.ts'
import { Tool } from '../src/tools/tool.ts'
import type { Executor } from '../src/turn/executor/executor.ts'
import type { GateAnswer } from '../src/turn/gates/gate-answer.ts'
import type { MayDecide } from '../src/turn/gates/may-decide.ts'
import { subAgent } from '../src/turn/nested/sub-agent.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'

// The table `How a gate ends` in docs/guide/approvals.md: every kind in every situation.

const SEAT = {
  type: 'object',
  properties: { row: { type: 'number' } },
  required: ['row'],
  additionalProperties: false,
} as const

/** A kind of gate: the tool that opens it, the right answer, and one that does not fit. */
interface Kind {
  readonly name: 'approval' | 'input' | 'link' | 'result'
  tool(description: string, ran: () => void): Tool
  readonly right: object
  readonly wrong: object
}

const base = {
  name: 'act',
  inputSchema: { type: 'object', properties: { row: { type: 'number' } } },
} as const
const KINDS: readonly Kind[] = [
  {
    name: 'approval',
    tool: (description, ran) =>
      new Tool({
        ...base,
        description,
        approval: true,
        handler: () => {
          ran()
          return 'Done.'
        },
      }),
    right: { approve: true },
    wrong: { value: 1 },
  },
  {
    name: 'input',
    tool: (description, ran) =>
      new Tool({
        ...base,
        description,
        effect: 'read',
        handler: (_, { input }) => {
          if (input === undefined) return inputRequired({ message: 'Which seat?', schema: SEAT })
          ran()
          return 'Done.'
        },
      }),
    right: { value: { row: 1 } },
    wrong: { value: { row: 'first' } },
  },
  {
    name: 'link',
    tool: (description, ran) =>
      new Tool({
        ...base,
        description,
        effect: 'read',
        handler: (_, { input }) => {
          if (input === undefined) return linkRequired({ message: 'Go.', url: 'https://a.example' })
          ran()
          return 'Done.'
        },
      }),
    right: { done: true },
    wrong: { approve: true },
  },
  {
    name: 'result',
    tool: (description) => new Tool({ ...base, description, external: true, effect: 'write' }),
    right: { result: 'Done.' },
    wrong: { approve: true },
  },
]

/** Calls a tool once in each conversation, then answers. */
const calling =
  (tool: string, args: JsonObject): Executor =>
  async ({ items }) =>
    items.some(({ type }) => type === 'call') ? { answer: 'Done.' } : { calls: [{ tool, args }] }

let folder: string
let files = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-outcomes-'))
})
afterAll(() => rm(folder, { recursive: true }))

const task = { task: 'Act.' }
/** Stands where the tool was removed. */
const idle = new Tool({ ...base, name: 'idle', description: 'Rests.', handler: () => 'Rested.' })
const agent = (name: string, tool: Tool, executor: Executor) =>
  subAgent({ name, description: 'Works.', agent: { tools: [tool], executor } })

describe.each(KINDS)('a gate of kind `$name`', (kind) => {
  describe.each([0, 2])('%i levels down', (depth) => {
    /** A turn that waits, and the ways to go on with it in a process of its own. */
    async function waiting() {
      const path = join(folder, `${++files}.db`)
      let now = Date.now()
      const clock = { now: () => now }
      let ran = 0
      const stores: Store[] = []
      const process = (mayDecide?: MayDecide, description: string | null = 'Acts.') => {
        const store = sqliteStore(path, { clock })
        stores.push(store)
        const act = description === null ? idle : kind.tool(description, () => ran++)
        const inner = agent('inner', act, calling('act', {}))
        const middle = agent('middle', inner, calling('inner', task))
        const runner = new TurnRunner({
          store,
          tools: [depth === 0 ? act : middle],
          executor: depth === 0 ? calling('act', {}) : calling('middle', task),
          testing: { clock },
          ...(mayDecide && { mayDecide }),
        })
        return { runner, store }
      }
      const first = process()
      const begun = await first.runner.run({ conversation: 'c', message: 'Act.' })
      const [gate] = begun.gates
      expect([begun.status, gate?.kind]).toEqual(['suspended', kind.name])
      const answer = (given: object) =>
        ({ gate: gate?.id ?? '', decidedBy: 'ann', ...given }) as GateAnswer
      const resume = ({ runner }: ReturnType<typeof process>, given: object) =>
        runner.resume({ conversation: 'c', decisions: [answer(given)] })
      /** What became of the call itself, wherever it ran. */
      const settled = async (store: Store) => {
        const { entries } = await store.find({ tool: 'act', kind: 'settlement' })
        return entries.map(({ entry }) => (entry.data as JsonObject)['settlement'])
      }
      const open = async (store: Store) => (await store.openGates()).map(({ state }) => state)
      return {
        ...{ first, process, resume, settled, open },
        ran: () => ran,
        later: (ms: number) => (now += ms),
        close: () => Promise.all(stores.map((store) => store.close())),
      }
    }
    const runs = kind.name === 'result' ? 0 : 1

    it('is answered from another process, once', async () => {
      const { process, resume, settled, ran, open, close } = await waiting()
      const other = process()
      expect((await resume(other, kind.right)).text).toBe('Done.')
      expect([await settled(other.store), ran(), await open(other.store)]).toEqual([
        ['ok'],
        runs,
        [],
      ])
      await expect(resume(process(), kind.right)).rejects.toMatchObject({ code: 'E_GATE_STATE' })
      expect(ran()).toBe(runs)
      await close()
    })

    it('is not answered by a person who may not, nor with what does not fit', async () => {
      const { process, resume, settled, ran, open, close } = await waiting()
      const strict = process((_, { decidedBy }) => decidedBy === 'bob')
      const no = { code: 'E_DECISION_NOT_ALLOWED' }
      await expect(resume(strict, kind.right)).rejects.toMatchObject(no)
      const misfit = { code: 'E_INVALID_DECISION' }
      await expect(resume(process(), kind.wrong)).rejects.toMatchObject(misfit)
      expect([await open(strict.store), ran()]).toEqual([['pending'], 0])
      expect((await resume(strict, { ...kind.right, decidedBy: 'bob' })).text).toBe('Done.')
      expect([await settled(strict.store), ran()]).toEqual([['ok'], runs])
      await close()
    })

    it('ends with its time: only the late result of a call in doubt counts', async () => {
      const { process, resume, settled, ran, later, close } = await waiting()
      later(25 * 60 * 60 * 1000)
      const other = process()
      const late = { code: 'E_GATE_STATE' }
      const isTaken = kind.name === 'result' && depth === 0
      if (isTaken) await resume(other, kind.right)
      else await expect(resume(other, kind.right)).rejects.toMatchObject(late)
      const { status } = await other.runner.resume({ conversation: 'c', decisions: [] })
      const end = kind.name === 'result' ? 'in-doubt' : 'abandoned'
      expect([status, await settled(other.store), ran()]).toEqual([
        'completed',
        isTaken ? ['in-doubt', 'ok'] : [end],
        0,
      ])
      await expect(resume(other, kind.right)).rejects.toMatchObject(late)
      await close()
    })

    it.each([
      ['changed', 'Acts on everything.'],
      ['removed', null],
    ])('is about the tool as it was, which was %s', async (_, description) => {
      const { process, resume, settled, ran, close } = await waiting()
      const changed = process(undefined, description)
      await resume(changed, kind.right)
      expect([await settled(changed.store), ran()]).toEqual([
        [kind.name === 'result' ? 'ok' : 'refused'],
        0,
      ])
      await close()
    })

    it('is answered where it is, in the conversation of the innermost turn', async () => {
      const { process, settled, ran, open, close } = await waiting()
      const { store, runner } = process((_, { decidedBy }) => decidedBy === 'ann')
      const conversations = (await store.conversations()).map(({ id }) => id)
      const inner = conversations.toSorted((a, b) => b.length - a.length)[0] ?? ''
      const [gate] = await store.openGates(inner)
      const answer = (given: object) => {
        const decision = { gate: gate?.id ?? '', decidedBy: 'ann', ...given } as GateAnswer
        return runner.resume({ conversation: inner, decisions: [decision] })
      }
      const no = { code: 'E_DECISION_NOT_ALLOWED' }
      await expect(answer({ ...kind.right, decidedBy: 'eve' })).rejects.toMatchObject(no)
      await expect(answer(kind.wrong)).rejects.toMatchObject({ code: 'E_INVALID_DECISION' })
      expect((await answer(kind.right)).text).toBe('Done.')
      expect([await settled(store), ran(), await open(store)]).toEqual([['ok'], runs, []])
      await expect(answer(kind.right)).rejects.toMatchObject({ code: 'E_GATE_STATE' })
      await close()
    })

    it('does not run with edited arguments that do not fit the tool', async () => {
      const { process, resume, settled, ran, open, close } = await waiting()
      const other = process()
      const edited = resume(other, { approve: true, args: { row: 'first' } })
      if (kind.name === 'approval' && depth > 0) {
        await edited
        expect(await settled(other.store)).toEqual(['refused'])
      } else {
        await expect(edited).rejects.toMatchObject({ code: 'E_INVALID_DECISION' })
        expect(await open(other.store)).toEqual(['pending'])
      }
      expect(ran()).toBe(0)
      await close()
    })

    it.each(kind.name === 'result' ? ['a function'] : [])(
      'fails the call if the result is %s, which is no JSON',
      async () => {
        const { process, resume, settled, close } = await waiting()
        const other = process()
        await resume(other, { result: () => 1 })
        expect(await settled(other.store)).toEqual(['failed'])
        await close()
      },
    )

    it('takes one of two answers at once', async () => {
      const { process, resume, settled, ran, close } = await waiting()
      const [one, two] = [process(), process()]
      const ends = await Promise.allSettled([resume(one, kind.right), resume(two, kind.right)])
      expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect([await settled(one.store), ran()]).toEqual([['ok'], runs])
      await close()
    })

    it('declined, denies the call', async () => {
      const { process, resume, settled, ran, close } = await waiting()
      const other = process()
      await resume(other, { approve: false, reason: 'Not now.' })
      expect([await settled(other.store), ran()]).toEqual([['denied'], 0])
      await close()
    })

    it('outlives the abort of its turn, unless somebody else executes the call', async () => {
      const { process, resume, settled, ran, open, close } = await waiting()
      const other = process()
      const signal = AbortSignal.abort()
      const { status } = await other.runner.resume({ conversation: 'c', decisions: [], signal })
      expect(status).toBe('aborted')
      if (kind.name === 'result' && depth === 0) {
        expect([await settled(other.store), await open(other.store)]).toEqual([['in-doubt'], []])
        await resume(process(), kind.right)
        expect(await settled(other.store)).toEqual(['in-doubt', 'ok'])
      } else {
        expect(await open(other.store)).toEqual(['pending'])
        expect((await resume(other, kind.right)).text).toBe('Done.')
        expect([await settled(other.store), ran()]).toEqual([['ok'], runs])
      }
      await close()
    })
  })
})
