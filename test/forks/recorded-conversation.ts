import { z } from 'zod'
import type { CallItem, OpenCallItem } from '../../src/records/history-item.ts'
import type { Store } from '../../src/store/store.ts'
import { type ScriptedPart, scriptedModel } from '../../src/testing/scripted-model.ts'
import { Tool } from '../../src/tools/tool.ts'
import { subAgent } from '../../src/turn/nested/sub-agent.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'

const wire = (callId: string) =>
  ({ provider: 'p', api: 'scripted', type: 'call', origin: 'natural', callId }) as const

/** A call that the provider ran itself. */
const searched: CallItem = {
  type: 'call',
  id: 'search_1',
  tool: 'web_search',
  args: { query: 'trains' },
  wire: wire('search_1'),
  executedBy: 'provider',
  result: { isError: false, parts: [{ type: 'text', text: 'There are trains.' }] },
}

/** A call for which the provider asks first, and its result in a later response. */
const asking: OpenCallItem = {
  type: 'openCall',
  id: 'ask_1',
  tool: 'delete_row',
  args: { row: 7 },
  wire: wire('ask_1'),
  executedBy: 'provider',
  gate: { kind: 'approval' },
}
const done: CallItem = {
  ...searched,
  id: 'ask_1_done',
  tool: 'delete_row',
  args: { row: 7 },
  wire: wire('ask_1'),
  resultOnly: true,
}

const inputSchema = z.object({ n: z.number() })
const look = new Tool({
  name: 'look',
  description: 'Looks.',
  inputSchema,
  effect: 'read',
  trust: 'first-party',
  handler: ({ n }) => `seen ${n}`,
})
const pay = new Tool({
  name: 'pay',
  description: 'Pays.',
  inputSchema,
  effect: 'write',
  trust: 'first-party',
  approval: () => true,
  handler: ({ n }) => `paid ${n}`,
})
const clerk = () =>
  subAgent({
    name: 'clerk',
    description: 'Looks things up.',
    agent: {
      model: scriptedModel([
        [{ call: 'look', args: { n: 9 }, id: 'inner' }],
        [{ text: 'The clerk is done.' }],
      ]),
      tools: [look],
    },
  })

const slow = new Tool({
  name: 'slow',
  description: 'Takes its time.',
  inputSchema,
  effect: 'read',
  background: true,
  handler: ({ n }) => `slowly ${n}`,
})
const send = new Tool({
  name: 'send',
  description: 'Sends.',
  inputSchema,
  effect: 'write',
  trust: 'first-party',
  approval: () => true,
  handler: ({ n }) => `sent ${n}`,
})
const browse = new Tool({
  name: 'browse',
  description: 'Runs in a browser.',
  inputSchema,
  effect: 'read',
  external: true,
})

/** The tools that the conversation was made with. */
export const recordedTools = () => [look, pay, send, clerk(), slow, browse]

/**
 * Turns with parallel calls, a sub-agent, a provider's calls, a background and an external call, a standing approval, a
 * rewind, a summary, and gates that are approved, denied and left open.
 */
export async function recordConversation(store: Store, conversation: string): Promise<void> {
  const tools = recordedTools()
  const runner = (...steps: (readonly ScriptedPart[])[]) =>
    new TurnRunner({ store, tools, model: scriptedModel(steps) })
  const decide = async (approve: boolean, ...steps: (readonly ScriptedPart[])[]) => {
    const gates = await store.openGates(conversation)
    const decisions = gates.map(({ id }) => ({ gate: id, approve, decidedBy: 'ada' }))
    await runner(...steps).resume({ conversation, decisions })
  }
  await runner(
    [
      { thought: 'Let me see.' },
      { text: 'I look twice.' },
      { call: 'look', args: { n: 1 }, id: 'a' },
      { call: 'look', args: { n: 2 }, id: 'b' },
    ],
    [{ call: 'clerk', args: { task: 'look' }, id: 'c' }],
    [{ text: 'Seen.' }],
  ).run({ conversation, message: 'Look.' })
  await runner([
    { call: 'pay', args: { n: 3 }, id: 'd' },
    { call: 'look', args: { n: 4 }, id: 'e' },
  ]).run({ conversation, message: 'Pay.' })
  await decide(true, [{ text: 'Paid.' }])
  await runner([{ call: 'pay', args: { n: 5 }, id: 'f' }]).run({ conversation, message: 'More.' })
  await decide(false, [{ text: 'Not paid.' }])
  await runner([{ call: 'send', args: { n: 1 }, id: 'k' }]).run({ conversation, message: 'Send.' })
  const [first] = await store.openGates(conversation)
  const granted = { for: 'conversation', args: {}, tainted: true } as const
  const standing = { gate: first?.id ?? '', approve: true, decidedBy: 'ada', grant: granted }
  await runner([{ call: 'send', args: { n: 2 }, id: 'l' }], [{ text: 'Sent twice.' }]).resume({
    conversation,
    decisions: [standing],
  })
  await runner([{ text: 'Sent, in other words.' }]).regenerate({ conversation, redoEffects: true })
  await runner(
    [{ item: searched }, { text: 'Found.' }, { call: 'look', args: { n: 6 }, id: 'g' }],
    [{ item: asking }],
  ).run({ conversation, message: 'Search.' })
  await decide(true, [{ item: done }, { text: 'Deleted.' }])
  await runner(
    [{ call: 'slow', args: { n: 8 }, id: 'i' }],
    [{ text: 'It takes its time.' }],
    [{ text: 'Now it is there.' }],
  ).run({ conversation, message: 'Slowly.' })
  await runner([{ call: 'browse', args: { n: 9 }, id: 'j' }]).run({
    conversation,
    message: 'Browse.',
  })
  const [gate] = await store.openGates(conversation)
  const decision = { gate: gate?.id ?? '', decidedBy: 'page', result: 'a page' }
  await runner([{ text: 'Browsed.' }]).resume({ conversation, decisions: [decision] })
  const compact = { at: 10, keepTurns: 1, summarise: () => 'They looked, paid and searched.' }
  await new TurnRunner({ store, tools, model: scriptedModel([[{ text: 'Short.' }]]), compact }).run(
    {
      conversation,
      message: 'Sum up.',
    },
  )
  await runner([{ call: 'pay', args: { n: 7 }, id: 'h' }]).run({ conversation, message: 'Again.' })
}
