import { onTestFinished } from 'vitest'
import type { HistoryItem } from '../../src/records/history-item.ts'
import type { Store } from '../../src/store/store.ts'
import { type LoopbackScript, loopbackProvider } from '../../src/testing/index.ts'
import type { SummaryRequest } from '../../src/turn/compact/compaction.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'
import { sampleTool } from '../turn-samples.ts'
import { samplesOf } from '../wire/provider-samples.ts'
import type { ScriptedCall } from '../wire/wire-script.ts'

/** How much of every request there may be, and from when on there is a summary. */
const BUDGET = { maxTokens: 9_000 }
const AT = 7_500

const padding = 'words and more words '.repeat(15)
/** What a message and a result say, and no summary may lose. */
const fact = (kind: 'F' | 'G', n: number) => `${kind}${n}.`
const FACTS = /[FG]\d+\./g

const look = sampleTool('look', ({ q }) => `${q} ${padding}`)
const readLog = sampleTool('read_log', ({ q }) => `log of ${q}\n${'line\n'.repeat(300)}`, {
  inline: false,
})

/** What the model asks for in a turn, one response after the other. Every tenth turn is long. */
function callsOf(turn: number): readonly ScriptedCall[] {
  const call = (tool: string, at: number, args: object): ScriptedCall => ({
    id: `call_${turn}_${at}`,
    tool,
    args: JSON.stringify(args),
  })
  if (turn % 10 === 0) {
    return Array.from({ length: 20 }, (_, at) =>
      call('look', at, { q: `${fact('G', turn)} ${at}` }),
    )
  }
  if (turn % 3 === 0) {
    // It reads what may have been summarised long ago.
    const callId = `call_${turn > 9 ? turn - 6 : turn}_0`
    return [call('read_log', 0, { q: `${turn}` }), call('artifact_head', 1, { callId, lines: 2 })]
  }
  return turn % 3 === 1 ? [call('look', 0, { q: fact('G', turn) })] : []
}

const FABLE = 'claude-fable-5-1'
let signatures = 0

/** Responses of a Claude that thinks first, and whose server refuses thinking behind anything that changed. */
const thinking = (block: object, stop_reason: string): LoopbackScript => ({
  body: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: FABLE,
    content: [{ type: 'thinking', thinking: 'Hm.', signature: `s${signatures++}` }, block],
    stop_reason,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
})

function responsesOf(api: string, turn: number): readonly LoopbackScript[] {
  const { script } = samplesOf(api)
  const answer = `This is what turn ${turn} found. ${padding}`
  const calls = callsOf(turn)
  if (api !== 'anthropic-messages') {
    const asked = calls.map((call) => ({ events: [...script.calls([call])] }))
    return [...asked, { events: [...script.answer(answer)] }]
  }
  const asked = calls.map(({ id, tool, args }) => {
    const block = { type: 'tool_use', id, name: tool, input: JSON.parse(args) as object }
    return thinking(block, 'tool_use')
  })
  return [...asked, thinking({ type: 'text', text: answer }, 'end_turn')]
}

const factsIn = (value: unknown) => new Set(JSON.stringify(value).match(FACTS) ?? [])

/** A summary of all facts that it was given. */
function factsOnly({ items, previous = '' }: SummaryRequest): string {
  const texts = items.filter(({ type }: HistoryItem) => type !== 'thought')
  return [...new Set([...factsIn(previous), ...factsIn(texts)])].join(' ')
}

/** Plays a conversation of many turns. `open` gives each runner its store, and every seventh turn has a new runner. */
export async function live(api: string, turns: number, open: () => Store | Promise<Store>) {
  const exchanges = Array.from({ length: turns }, (_, at) => responsesOf(api, at + 1)).flat()
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const isClaude = api === 'anthropic-messages'
  const settings = isClaude ? { model: FABLE, streaming: false } : {}
  const make = async () =>
    new TurnRunner({
      model: samplesOf(api).open(server.url, settings),
      tools: [look, readLog],
      limits: { iterations: 100 },
      budget: BUDGET,
      compact: { at: AT, keepTurns: 2, summarise: factsOnly },
      store: await open(),
      retries: 0,
    })
  let runner = await make()
  const said = new Set<string>()
  const lost: string[] = []
  const failed: string[] = []
  let seen = 0
  for (let turn = 1; turn <= turns; turn++) {
    if (turn % 7 === 0) runner = await make()
    said.add(fact('F', turn))
    const message = `Question ${fact('F', turn)} ${padding}`
    const { status, reason, toolCalls } = await runner.run({ conversation: 'c', message })
    if (status !== 'completed') throw new Error(`turn ${turn}: ${JSON.stringify(reason)}`)
    for (const { body } of server.requests.slice(seen)) {
      const shown = factsIn(body)
      lost.push(...[...said].filter((one) => !shown.has(one)).map((one) => `${turn}: ${one}`))
    }
    seen = server.requests.length
    if (turn % 10 === 0 || turn % 3 === 1) said.add(fact('G', turn))
    failed.push(...toolCalls.flatMap(({ id, isError }) => (isError ? [`${turn}: ${id}`] : [])))
  }
  const violations = server.requests.flatMap((request) => request.violations)
  return { requests: server.requests, violations, lost, failed }
}
