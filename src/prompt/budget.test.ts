import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../test/runs.ts'
import { PromptBudget } from './budget.ts'
import type { GroupEntry } from './budget-groups.ts'

const exactly = (tokens: number) => ({ tokens, isEstimate: false })

type Entry = GroupEntry<string>

const user = (id: string, tokens: number): Entry => ({
  id,
  item: id,
  group: id,
  isUser: true,
  count: exactly(tokens),
})

/** A response of the model: reasoning, a call, and what its result costs in full and as a handle. */
const response = (group: string, tokens: number, handle?: number): Entry[] => [
  { id: `${group}.thought`, item: `${group}.thought`, group, isUser: false, count: exactly(1) },
  {
    id: `${group}.call`,
    item: `${group}.call`,
    group,
    isUser: false,
    count: exactly(tokens),
    ...(handle !== undefined && { countHandle: async () => exactly(handle) }),
  },
]

function budgetOf(limit: number, entries: readonly Entry[], target = 1): PromptBudget<string> {
  const budget = new PromptBudget<string>({ limit, target })
  for (const entry of entries) budget.append(entry)
  return budget
}

const shown = (budget: PromptBudget<string>) =>
  [...budget.kept()].map(({ item, form }) => (form === 'full' ? item : `${item}:handle`))

describe('PromptBudget', () => {
  it('counts everything that is sent and changes nothing while there is room', async () => {
    const budget = budgetOf(100, [user('u1', 10), ...response('r1', 20, 2)])
    budget.setFixed('instructions', exactly(7))
    budget.setFixed('tools', { tokens: 5, isEstimate: true })
    budget.setContext([{ id: 'm1', weight: 1, count: exactly(3) }])
    expect(await budget.fit()).toEqual({
      limit: 100,
      fits: true,
      total: { tokens: 46, isEstimate: true },
      parts: {
        instructions: exactly(7),
        tools: { tokens: 5, isEstimate: true },
        context: exactly(3),
        output: exactly(0),
        history: exactly(31),
      },
      turnedToHandles: [],
      dropped: [],
      droppedContext: [],
      groups: { kept: 2, dropped: 0 },
    })
    budget.setFixed('tools', exactly(0))
    expect(budget.total).toEqual(exactly(41))
  })

  it('turns old results into handles before it drops anything', async () => {
    const entries = [user('u1', 1), ...response('r1', 40, 2), ...response('r2', 40, 2)]
    const budget = budgetOf(100, [...entries, ...response('r3', 40, 2)])
    const report = await budget.fit()
    expect(report).toMatchObject({ fits: true, turnedToHandles: ['r1.call'], dropped: [] })
    expect(shown(budget)).toEqual([
      'u1',
      'r1.thought',
      'r1.call:handle',
      'r2.thought',
      'r2.call',
      'r3.thought',
      'r3.call',
    ])
    expect((await budget.fit()).turnedToHandles).toEqual([])
  })

  it('keeps a result whose handle would cost more', async () => {
    const budget = budgetOf(20, [user('u1', 1), ...response('r1', 5, 9), ...response('r2', 20, 3)])
    const report = await budget.fit()
    expect(report.dropped).toEqual(['r1.thought', 'r1.call'])
    expect(report.turnedToHandles).toEqual(['r2.call'])
    expect(shown(budget)).toEqual(['u1', 'r2.thought', 'r2.call:handle'])
  })

  it('drops whole earlier turns, oldest first, so that a history begins with the user', async () => {
    const entries = [
      user('u1', 10),
      ...response('r1', 10),
      ...response('r2', 10),
      user('u2', 10),
      ...response('r3', 10),
      user('u3', 10),
    ]
    const budget = budgetOf(55, entries)
    const report = await budget.fit()
    expect(report.dropped).toEqual(['u1', 'r1.thought', 'r1.call', 'r2.thought', 'r2.call'])
    expect(report.groups).toEqual({ kept: 3, dropped: 3 })
    expect(shown(budget)).toEqual(['u2', 'r3.thought', 'r3.call', 'u3'])
  })

  it('never drops the newest message of the user nor the newest group', async () => {
    const entries = [user('u1', 50), ...response('r1', 50), ...response('r2', 50)]
    const budget = budgetOf(60, entries)
    const report = await budget.fit()
    expect(report).toMatchObject({ fits: false, dropped: ['r1.thought', 'r1.call'] })
    expect(shown(budget)).toEqual(['u1', 'r2.thought', 'r2.call'])
  })

  it('turns the newest results into handles only when nothing else is left', async () => {
    const entries = [user('u1', 5), ...response('r1', 5), ...response('r2', 500, 5)]
    const budget = budgetOf(20, entries)
    expect(await budget.fit()).toMatchObject({
      fits: true,
      dropped: ['r1.thought', 'r1.call'],
      turnedToHandles: ['r2.call'],
    })
  })

  it('leaves out the context that weighs least as a last resort, for this request only', async () => {
    const budget = budgetOf(20, [user('u1', 10)])
    const pieces = [
      { id: 'heavy', weight: 0.9, count: exactly(8) },
      { id: 'light', weight: 0.1, count: exactly(8) },
    ]
    budget.setContext(pieces)
    expect(await budget.fit()).toMatchObject({ fits: true, droppedContext: ['light'] })
    budget.setContext(pieces)
    expect(await budget.fit()).toMatchObject({ droppedContext: ['light'] })
  })

  it('counts the shape of a structured answer like everything else', async () => {
    const budget = budgetOf(40, [user('u1', 10), ...response('r1', 20), ...response('r2', 5)])
    budget.setFixed('output', exactly(4))
    expect(budget.total).toEqual(exactly(41))
    expect((await budget.fit()).dropped).toEqual(['r1.thought', 'r1.call'])
  })

  it('sheds nothing of what is just within the limit', async () => {
    const entries = [user('u1', 10), ...response('r1', 9, 2), user('u2', 10)]
    const budget = budgetOf(40, entries, 0.5)
    budget.setContext([{ id: 'm1', weight: 0.1, count: exactly(10) }])
    expect(await budget.fit()).toMatchObject({
      fits: true,
      total: exactly(40),
      turnedToHandles: [],
      dropped: [],
      droppedContext: [],
    })
  })

  it.each([
    ['handles have made room', 0.5, 46, [], ['r1.call', 'r2.call']],
    ['they made little room', 0.5, 40, ['u1', 'r1.thought', 'r1.call'], ['r1.call', 'r2.call']],
    ['the target is met', 0.5, 30, ['u1', 'r1.thought', 'r1.call'], ['r1.call', 'r2.call']],
  ])('drops no more than it must: when %s', async (_, target, limit, dropped, handles) => {
    const entries = [
      user('u1', 15),
      ...response('r1', 20, 2),
      user('u2', 10),
      ...response('r2', 20, 2),
      user('u3', 2),
    ]
    const budget = budgetOf(limit, entries, target)
    const report = await budget.fit()
    expect(report).toMatchObject({ fits: true, dropped, turnedToHandles: handles })
  })

  it('turns no more of the newest results into handles, and leaves out no more context, than it must', async () => {
    const newest = [...response('r1', 20, 2), ...response('r1', 20, 2)].map((entry, place) => ({
      ...entry,
      id: `${place}`,
      item: `${place}`,
    }))
    const budget = budgetOf(29, [user('u1', 5), ...newest], 0.5)
    expect(await budget.fit()).toMatchObject({ fits: true, turnedToHandles: ['1'] })
    budget.setContext(
      [0.1, 0.2].map((weight) => ({ id: `m${weight}`, weight, count: exactly(18) })),
    )
    expect(await budget.fit()).toMatchObject({
      turnedToHandles: ['3'],
      droppedContext: ['m0.1'],
      total: exactly(29),
    })
  })

  it('continues in the middle of a group of which some results are handles', async () => {
    const first = [...response('r1', 30, 2), ...response('r1', 30, 2)].map((entry, place) => ({
      ...entry,
      id: `${place}`,
      item: `${place}`,
    }))
    const budget = budgetOf(70, [user('u1', 1), ...first, ...response('r2', 30)])
    expect(await budget.fit()).toMatchObject({ turnedToHandles: ['1'], dropped: [] })
    for (const entry of response('r3', 20)) budget.append(entry)
    expect(await budget.fit()).toMatchObject({ turnedToHandles: ['3'], dropped: [] })
  })

  it('keeps a result whose handle costs just as much', async () => {
    const budget = budgetOf(20, [user('u1', 1), ...response('r1', 5, 5), ...response('r2', 20, 3)])
    expect((await budget.fit()).turnedToHandles).toEqual(['r2.call'])
  })

  it('is exact again when every estimate has gone', async () => {
    const rough = response('r1', 30).map((entry) => ({
      ...entry,
      count: { ...entry.count, isEstimate: true },
    }))
    const budget = budgetOf(30, [user('u1', 5), ...rough, ...response('r2', 10)])
    expect(budget.total.isEstimate).toBe(true)
    expect((await budget.fit()).total).toEqual(exactly(16))
  })

  it('sheds below the limit at once, so that the next requests stay alike', async () => {
    const budget = new PromptBudget<string>({ limit: 100 })
    budget.append(user('u1', 1))
    let changes = 0
    for (let step = 0; step < 100; step++) {
      for (const entry of response(`r${step}`, 4, 1)) budget.append(entry)
      const { turnedToHandles, dropped, fits } = await budget.fit()
      expect(fits).toBe(true)
      if (turnedToHandles.length + dropped.length > 0) changes++
    }
    expect(changes).toBeGreaterThan(3)
    expect(changes).toBeLessThan(35)
  })

  it('does not look at the history again at each step', async () => {
    let counted = 0
    const budget = new PromptBudget<string>({ limit: 10_000 })
    budget.append(user('u1', 1))
    const steps = 5_000
    for (let step = 0; step < steps; step++) {
      for (const entry of response(`r${step}`, 100)) {
        const countHandle = async () => {
          counted++
          return exactly(10)
        }
        budget.append(entry.id.endsWith('call') ? { ...entry, countHandle } : entry)
      }
      await budget.fit()
    }
    expect(counted).toBeLessThanOrEqual(steps)
    expect(budget.total.tokens).toBeLessThanOrEqual(10_000)
  })
})

/** One step of a conversation: a message, a response with calls, or a request. */
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('user' as const), tokens: fc.nat(30) }),
    fc.record({
      do: fc.constant('response' as const),
      calls: fc.array(fc.record({ tokens: fc.nat(60), handle: fc.option(fc.nat(20)) }), {
        maxLength: 4,
      }),
      // How many steps earlier the response stands whose open call this one settles.
      settles: fc.option(fc.integer({ min: 1, max: 6 })),
      isOpen: fc.boolean(),
    }),
    fc.constant({ do: 'fit' as const }),
  ),
  { maxLength: 60 },
)

describe('PromptBudget on any conversation', () => {
  it('never splits a group, never loses the newest message, never brings back what it dropped', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 5, max: 300 }), async (script, limit) => {
        const budget = new PromptBudget<Entry>({ limit })
        const entries: Entry[] = []
        const gone = new Set<string>()
        const faults: string[] = []
        const add = (entry: Entry) => {
          entries.push(entry)
          budget.append({ ...entry, item: entry })
        }
        for (const [n, step] of script.entries()) {
          if (step.do === 'user') add(user(`u${n}`, step.tokens))
          else if (step.do === 'response') {
            const group = `r${n}`
            const opened = `r${n - (step.settles ?? n + 1)}`
            const answers = entries.some((entry) => entry.group === opened)
              ? { answers: opened }
              : {}
            const item = { item: '', group, isUser: false, count: exactly(1) }
            add({ ...item, id: `${group}.t`, isOpen: step.isOpen })
            add({ ...item, id: `${group}.s`, ...answers })
            for (const [i, { tokens, handle }] of step.calls.entries()) {
              const countHandle =
                handle === null ? {} : { countHandle: async () => exactly(handle) }
              const id = `${group}.${i}`
              add({ id, item: '', group, isUser: false, count: exactly(tokens), ...countHandle })
            }
          } else faults.push(...(await faultsOf(budget, entries, gone)))
        }
        faults.push(...(await faultsOf(budget, entries, gone)))
        expect(faults).toEqual([])
      }),
      { numRuns: runs(500) },
    )
  })
})

/** Asks for a request and says which promises it breaks. */
async function faultsOf(
  budget: PromptBudget<Entry>,
  entries: readonly Entry[],
  gone: Set<string>,
): Promise<string[]> {
  const goneBefore = new Set(gone)
  const { dropped, total, fits } = await budget.fit()
  for (const id of dropped) gone.add(id)
  const kept = [...budget.kept()]
  const smallest = new Map<string, Entry['count']>()
  for (const { id, count, countHandle } of entries) {
    smallest.set(id, countHandle === undefined ? count : await countHandle())
  }
  const handleOf = ({ id, count }: Entry) => smallest.get(id) ?? count
  const ids = kept.map(({ item }) => item.id)
  const groups = new Set(kept.map(({ item }) => item.group))
  const newest = entries.at(-1)?.group
  const newestUser = entries.findLast(({ isUser }) => isUser)?.id
  const tokens = kept.map(
    ({ item, form }) => (form === 'full' ? item.count : handleOf(item)).tokens,
  )
  const expected = entries.map(({ id }) => id).filter((id) => !gone.has(id))
  const couldShrink = ({ item, form }: (typeof kept)[number]) =>
    item.group !== newest && form === 'full' && handleOf(item).tokens < item.count.tokens
  const newestUserAt = entries.findLastIndex(({ isUser }) => isUser)
  const isSettled = (opened: string) => entries.some(({ answers }) => answers === opened)
  const isLeftOut = (opened: string | undefined) => opened !== undefined && !groups.has(opened)
  // What settles a call that went earlier goes after it, whether there is room or not.
  const forRoom = entries.filter(
    ({ id, answers }) =>
      dropped.includes(id) &&
      !entries.some((entry) => entry.group === answers && goneBefore.has(entry.id)),
  )
  const promises = {
    'what was dropped stays away and the rest stays in order': ids.join() === expected.join(),
    'the total is the sum of what is kept': total.tokens === tokens.reduce((a, b) => a + b, 0),
    'fits tells the truth': fits === total.tokens <= budget.limit,
    'groups are whole': entries.every(
      ({ id, group, answers }) => gone.has(id) !== groups.has(group) || isLeftOut(answers),
    ),
    'what settles an open call stays or goes with it': entries.every(
      ({ id, answers }) => answers === undefined || ids.includes(id) === groups.has(answers),
    ),
    'what is open in the newest turn stays': entries.every(
      ({ id, group, isOpen }, at) =>
        !isOpen || at < newestUserAt || isSettled(group) || ids.includes(id),
    ),
    'the newest message of the user stays': newestUser === undefined || ids.includes(newestUser),
    'the newest group stays': newest === undefined || groups.has(newest),
    'the user still speaks first': !entries[0]?.isUser || kept[0]?.item.isUser === true,
    'handles come before drops': forRoom.length === 0 || !kept.some(couldShrink),
  }
  return Object.entries(promises).flatMap(([promise, isKept]) => (isKept ? [] : [promise]))
}
