import { expect, it } from 'vitest'
import { z } from 'zod'
import type { HistoryItem } from '../../records/history-item.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { Tool } from '../../tools/tool.ts'
import type { ExecutorDecision } from '../executor/executor.ts'
import { TurnRunner } from '../turn-runner.ts'

const wire = { provider: 'p', api: 'x', type: 'search', origin: 'natural', itemId: 'i' } as const
const search: HistoryItem = {
  type: 'call',
  id: 's',
  tool: 'web_search',
  args: { query: 'x', filter: { z: 1, a: 2 } },
  wire,
  executedBy: 'provider',
  result: { isError: false, parts: [{ type: 'text', text: 'found' }] },
  providerData: { api: 'x', data: { type: 'search', action: { z: 1, a: 2 } } },
}

it('sends the same bytes before and after a restart, in whatever order a model writes its keys', async () => {
  const store = memoryStore()
  const seen: string[] = []
  const send = new Tool({
    name: 'send',
    description: 'Sends.',
    inputSchema: z.object({ to: z.string(), body: z.object({ z: z.number(), a: z.number() }) }),
    effect: 'write',
    approval: (args) => args.to === 'ask',
    handler: () => 'sent',
  })
  const answers: ExecutorDecision[] = [
    {
      items: [search],
      calls: [
        { tool: 'send', args: { to: 'bob', body: { z: 1, a: 2 } } },
        { tool: 'send', args: '{"to":"ask","body":{"z":1,"a":2}}' },
        { tool: 'send', args: '{"to":' },
      ],
    },
    { answer: 'done' },
    { answer: 'again' },
  ]
  const runner = () =>
    new TurnRunner({
      store,
      tools: [send],
      policy: 'open',
      approve: () => ({
        approve: true,
        decidedBy: 'ann',
        args: { to: 'eve', body: { z: 3, a: 4 } },
      }),
      executor: async ({ items }) => {
        const parts = items.map((item) => [
          'args' in item && item.args,
          'providerData' in item && item.providerData,
          'result' in item && item.result,
        ])
        seen.push(JSON.stringify(parts))
        return answers.shift() as ExecutorDecision
      },
    })
  await runner().run({ conversation: 'c', message: 'go' })
  const before = seen[1] as string
  expect(before).toContain('{"body":{"a":2,"z":1},"to":"bob"}')
  expect(before).toContain('It ran with {\\"body\\":{\\"a\\":4,\\"z\\":3},\\"to\\":\\"eve\\"}')
  await runner().run({ conversation: 'c', message: 'more' })
  expect(seen[2]?.slice(0, before.length - 1)).toBe(before.slice(0, -1))
})
