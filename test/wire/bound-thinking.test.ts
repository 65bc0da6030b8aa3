import { describe, expect, it, onTestFinished } from 'vitest'
import { inlineBySize } from '../../src/prompt/inline-by-size.ts'
import { Memory } from '../../src/records/memory.ts'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { eventRecorder } from '../../src/testing/event-recorder.ts'
import { type LoopbackScript, loopbackProvider } from '../../src/testing/index.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { Middleware } from '../../src/turn/call/middleware.ts'
import type { TurnRunnerOptions } from '../../src/turn/options/runner-options.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'
import { runs } from '../runs.ts'
import { sampleTool } from '../turn-samples.ts'
import { samplesOf } from './provider-samples.ts'

const FABLE = 'claude-fable-5-1'
const conversation = 'c'

/** A Claude that enforces the rule about thinking, and runners that know only what the store holds. */
async function claude(responses: readonly (readonly object[])[], store: Store = memoryStore()) {
  const exchanges = responses.map((content, at): LoopbackScript => {
    const isCall = content.some((block) => (block as { type: string }).type === 'tool_use')
    const usage = { input_tokens: 1, output_tokens: 1 }
    const last = content.at(-1) as { type: string }
    const stop_reason =
      last.type === 'server_tool_use' ? 'pause_turn' : isCall ? 'tool_use' : 'end_turn'
    const head = { id: `msg_${at}`, type: 'message', role: 'assistant', model: FABLE }
    return ({ isStream }) =>
      isStream
        ? { events: eventsOf({ ...head, usage }, content, stop_reason) }
        : { body: { ...head, content, stop_reason, usage } }
  })
  const api = 'anthropic-messages'
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const warnings: string[] = []
  const runner = (
    options: Partial<TurnRunnerOptions> & {
      claude?: string
      streaming?: boolean
      appends?: boolean
    },
  ) => {
    const { claude: model = FABLE, streaming = false, appends = false, ...rest } = options
    const made = new TurnRunner({
      store,
      retries: 0,
      ...('executor' in rest
        ? {}
        : { model: samplesOf(api).open(server.url, { model, streaming, appends }) }),
      ...rest,
    } as TurnRunnerOptions)
    const recorder = eventRecorder(made)
    const run = async (message: string) => {
      const outcome = await made.run({ conversation, message })
      warnings.push(...recorder.of('warning').map(({ code }) => code))
      return outcome
    }
    return Object.assign(made, { say: run })
  }
  /** The signatures that each request carried. */
  const sent = () => server.requests.map(({ body }) => signatures(body).join(' '))
  /** Requests that only grew and yet do not carry all thinking of the one before and of its response. */
  const lost = () =>
    server.requests.flatMap(({ body }, at) => {
      const earlier = server.requests[at - 1]?.body
      const types = (responses[at - 1] ?? []).map((block) => (block as { type: string }).type)
      // The wire wants calls behind texts, so what the model thought between them stands elsewhere.
      const isMoved = types.includes('tool_use') && types.at(-1) === 'text'
      if (isMoved || !grew(earlier as Body, body as Body)) return []
      const made = (responses[at - 1] ?? []).flatMap((block) => signatures(block))
      const expected = [...signatures(earlier), ...made].join(' ')
      return sent()[at] === expected ? [] : [`${at}: ${sent()[at]} instead of ${expected}`]
    })
  const violations = () => server.requests.flatMap((request) => request.violations)
  return { runner, sent, lost, violations, warnings, store, server }
}

type Body = { readonly system?: unknown; readonly tools?: unknown; readonly messages: object[] }

const signatures = (value: unknown): string[] =>
  Array.from(JSON.stringify(value).matchAll(/"signature":"(\w+)"|"data":"(\w+)"/g), (found) =>
    String(found[1] ?? found[2]),
  )

/** Whether a request has the earlier one at its beginning, thinking aside. */
function grew(earlier: Body | undefined, later: Body): boolean {
  const plain = ({ system, tools, messages }: Body) =>
    [{ system, tools }, ...messages].map((each) =>
      JSON.stringify(each, (_name, value: unknown) =>
        Array.isArray(value)
          ? value.filter(
              (block) => !/thinking/.test((block as { type?: string } | null)?.type ?? ''),
            )
          : value,
      ),
    )
  if (earlier === undefined) return false
  const after = plain(later)
  return plain(earlier).every((text, at) => text === after[at])
}

function eventsOf(message: object, content: readonly object[], stop_reason: string): object[] {
  const blocks = content.flatMap((given, index) => {
    const block = given as { type: string; thinking?: string; signature?: string; input?: object }
    const delta = (value: object) => ({ type: 'content_block_delta', index, delta: value })
    const opened =
      block.type === 'thinking'
        ? [
            { ...block, thinking: '', signature: '' },
            delta({ type: 'thinking_delta', thinking: block.thinking }),
            delta({ type: 'signature_delta', signature: block.signature }),
          ]
        : block.input === undefined
          ? [block]
          : [
              { ...block, input: {} },
              delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }),
            ]
    const [content_block, ...deltas] = opened
    return [
      { type: 'content_block_start', index, content_block },
      ...deltas,
      { type: 'content_block_stop', index },
    ]
  })
  return [
    { type: 'message_start', message: { ...message, content: [] } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
}

const hm = (signature: string, thinking = `Thought ${signature}.`) => ({
  type: 'thinking',
  thinking,
  signature,
})
const veiled = (data: string) => ({ type: 'redacted_thinking', data })
const text = (words: string) => ({ type: 'text', text: words })
let calls = 0
const use = (name: string, input: object = {}) => ({
  type: 'tool_use',
  id: `toolu_${String(calls++).padStart(4, '0')}`,
  name,
  input,
})

const long = (name: string, options: object = { inline: false }): Tool =>
  sampleTool(name, ({ q = '' }) => `${q} `.repeat(2_000), options)
const look = sampleTool('look', ({ q = '' }) => `seen ${q}`)

describe('thinking that is bound to what stood before it', () => {
  it.each([true, false])(
    'holds over turns with several handles (streamed: %s)',
    async (streaming) => {
      const played = await claude([
        [hm('a1'), text('Let me see.'), use('fetch', { q: 'x' }), use('fetch', { q: 'y' })],
        [hm('a2'), use('fetch', { q: 'z' })],
        [hm('a3'), use('artifact_grep', { callId: 'toolu_x', pattern: 'y' })],
        [hm('a4'), text('one')],
        [hm('b1'), use('fetch', { q: 'w' })],
        [hm('b2'), text('two')],
        [text('three')],
      ])
      for (const message of ['1', '2', '3']) {
        const outcome = await played.runner({ tools: [long('fetch')], streaming }).say(message)
        expect(outcome).toMatchObject({ status: 'completed' })
      }
      expect(played.violations()).toEqual([])
      expect(played.sent()).toEqual([
        '',
        'a1',
        'a1 a2',
        'a1 a2 a3',
        'a1 a2 a3 a4',
        'a1 a2 a3 a4 b1',
        'a1 a2 a3 a4 b1 b2',
      ])
      expect(played.warnings).toEqual([])
    },
  )

  it('holds when the first handle comes in the middle of a turn', async () => {
    const played = await claude([
      [hm('a1'), use('look', { q: 'x' })],
      [hm('a2'), use('sized', { q: 'y' })],
      [hm('a3'), text('one')],
      [text('two')],
    ])
    const tools = [look, long('sized', { inline: inlineBySize({ bytes: 100 }) })]
    await played.runner({ tools }).say('1')
    await played.runner({ tools }).say('2')
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual(['', 'a1', 'a1 a2', 'a1 a2 a3'])
  })

  it('is left out behind what a budget has shed, and stays out after a restart', async () => {
    const turns = ['a', 'b', 'c', 'd', 'e', 'f']
    const played = await claude(
      turns.flatMap((turn) => [
        [hm(`${turn}1`), use('fetch', { q: turn })],
        [hm(`${turn}2`), text(turn)],
      ]),
    )
    for (const turn of turns) {
      const tools = [long('fetch', {})]
      const outcome = await played.runner({ tools, budget: { maxTokens: 5_000 } }).say(turn)
      expect(outcome.status).toBe('completed')
    }
    expect(played.violations()).toEqual([])
    expect(played.warnings).toEqual(['THINKING_LEFT_OUT'])
    expect(played.sent().slice(-4)).toEqual(['a1 a2 b1 b2 c1 c2 d1 d2', '', 'e2', 'e2 f1'])
    expect(played.lost()).toEqual([])
  })

  it('holds while memories change from turn to turn', async () => {
    const played = await claude([
      [hm('a1'), use('look')],
      [hm('a2'), text('one')],
      [hm('b1'), use('look')],
      [hm('b2'), text('two')],
      [text('three')],
    ])
    for (const ids of [['m'], ['m', 'n'], ['o']]) {
      const layer: Middleware = {
        dispatch: (ctx, next) => {
          for (const id of ids) ctx.addMemory(memory(id))
          return next()
        },
        call: (subject, next) => {
          subject.ctx.addMemory(memory(`${ids.join('')} late`))
          return next()
        },
      }
      await played.runner({ tools: [look], middleware: [layer] }).say(ids.join(' '))
    }
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual(['', 'a1', 'a1 a2', 'a1 a2 b1', 'a1 a2 b1 b2'])
  })

  it('holds over an edit, a refusal, a denial and a restart between them', async () => {
    const played = await claude([
      [
        hm('a1'),
        use('pay', { q: '1' }),
        use('pay', { q: '2' }),
        use('nothing'),
        use('look', { q: 7 }),
      ],
      [hm('a2'), text('one')],
      [text('two')],
    ])
    const tools = [look, sampleTool('pay', () => 'paid', { effect: 'write', approval: true })]
    const { gates } = await played.runner({ tools }).say('1')
    expect(gates).toHaveLength(2)
    const [one, two] = gates
    const outcome = await played.runner({ tools }).resume({
      conversation,
      decisions: [
        { gate: one?.id ?? '', approve: true, args: { q: '3' }, decidedBy: 'ann' },
        { gate: two?.id ?? '', approve: false, reason: 'no', decidedBy: 'ann' },
      ],
    })
    expect(outcome.status).toBe('completed')
    await played.runner({ tools }).say('2')
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual(['', 'a1', 'a1 a2'])
  })

  it('holds over changed tools and instructions that are appended', async () => {
    const played = await claude([
      [hm('a1'), use('look')],
      [hm('a2'), text('one')],
      [hm('b1'), use('look')],
      [hm('b2'), text('two')],
      [hm('c1'), text('three')],
    ])
    const other = sampleTool('other', () => 'x')
    const appends = true
    await played.runner({ appends, tools: [look] }).say('1')
    await played.runner({ appends, tools: [look, other], instructions: 'Be short.' }).say('2')
    await played.runner({ appends, tools: [look] }).say('3')
    expect(played.violations()).toEqual([])
    expect(played.warnings).toEqual([])
    expect(played.sent()).toEqual(['', 'a1', 'a1 a2', 'a1 a2 b1', 'a1 a2 b1 b2'])
  })

  it('is left out behind changed tools and instructions, with one warning; newer thinking is sent', async () => {
    const played = await claude([
      [hm('a1'), use('look')],
      [hm('a2'), text('one')],
      [hm('b1'), use('look')],
      [hm('b2'), text('two')],
      [hm('c1'), text('three')],
      [hm('d1'), text('four')],
      [text('five')],
    ])
    const other = sampleTool('other', () => 'x')
    await played.runner({ tools: [look] }).say('1')
    await played.runner({ tools: [look, other] }).say('2')
    expect(played.warnings).toEqual(['THINKING_LEFT_OUT'])
    await played.runner({ tools: [other, look] }).say('3')
    await played.runner({ tools: [look, other], instructions: 'Be short.' }).say('4')
    await played.runner({ tools: [look, other], instructions: 'Be short.' }).say('5')
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual(['', 'a1', '', 'b1', 'b1 b2', '', 'd1'])
    expect(played.warnings).toEqual(['THINKING_LEFT_OUT', 'THINKING_LEFT_OUT'])
  })

  it('is refused behind changed tools if it is sent all the same', async () => {
    const played = await claude([
      [hm('a1'), text('one')],
      [hm('b1'), text('two')],
    ])
    const url = played.server.url
    const settings = { model: FABLE, streaming: false, boundThinking: false }
    const model = samplesOf('anthropic-messages').open(url, settings)
    await played.runner({ tools: [look], model }).say('1')
    const outcome = await played.runner({ tools: [], model }).say('2')
    expect(outcome).toMatchObject({ status: 'failed' })
    expect(played.violations()).toMatchObject([{ rule: 'bound-thinking' }])
  })

  it('comes back with the tools that it was produced under', async () => {
    const turns = ['a', 'b', 'c', 'd', 'e', 'f']
    const played = await claude(turns.map((turn) => [hm(turn), text(turn)]))
    const other = sampleTool('other', () => 'x')
    for (const [at, turn] of turns.entries()) {
      await played.runner({ tools: at % 2 === 0 ? [look] : [look, other] }).say(turn)
    }
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual(['', '', 'a', 'b', 'a c', 'b d'])
  })

  it('holds over a switch of the model, also from one that does not check', async () => {
    const played = await claude([
      [hm('a1'), use('look')],
      [hm('a2'), text('one')],
      [hm('b1'), text('two')],
      [hm('c1'), text('three')],
      [text('four')],
    ])
    for (const [at, model] of ['claude-opus-4-6', FABLE, 'claude-opus-5-5', FABLE].entries()) {
      await played.runner({ tools: [look], claude: model }).say(String(at))
    }
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual(['', 'a1', 'a1 a2', 'a1 a2 b1', 'a1 a2 b1 c1'])
  })

  it('holds in a history that another provider began and continued', async () => {
    const played = await claude([
      [hm('a1'), use('look', { q: 'x' })],
      [hm('a2'), text('one')],
      [hm('b1'), text('two')],
      [text('three')],
    ])
    const responses = [
      { output: [{ type: 'reasoning', id: 'rs_1', summary: [] }, called('call_1')] },
      { output: [said('zero')] },
      { output: [called('call_2')] },
      { output: [said('between')] },
    ].map((body, at) => ({ body: { id: `r${at}`, status: 'completed', ...body } }))
    const openai = await loopbackProvider({ api: 'openai-responses', exchanges: responses })
    onTestFinished(() => openai.close())
    const elsewhere = samplesOf('openai-responses').open(openai.url, { streaming: false })
    const tools = [look, long('fetch')]
    await played.runner({ tools, model: elsewhere }).say('0')
    await played.runner({ tools }).say('1')
    await played.runner({ tools, model: elsewhere }).say('2')
    await played.runner({ tools }).say('3')
    await played.runner({ tools }).say('4')
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual(['', 'a1', 'a1 a2', 'a1 a2 b1'])
  })

  it('is sent back in every form: empty, redacted, between calls, after a pause', async () => {
    const search = {
      type: 'server_tool_use',
      id: 'srvtoolu_1',
      name: 'web_search',
      input: { query: 'x' },
    }
    const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
    const played = await claude([
      [hm('a1', ''), veiled('v1'), use('look', { q: '1' }), hm('a2'), use('look', { q: '2' })],
      [hm('b1'), text('I search.'), search],
      [found, hm('b2'), text('found'), use('look', { b: null, a: { d: 1.5, c: [null, 'é'] } })],
      [veiled('v2'), text(' '), text('one')],
      [text('two')],
    ])
    await played.runner({ tools: [look] }).say('1')
    await played.runner({ tools: [look] }).say('2')
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual([
      '',
      'a1 v1 a2',
      'a1 v1 a2 b1',
      'a1 v1 a2 b1 b2',
      'a1 v1 a2 b1 b2 v2',
    ])
  })

  it('is left out where the wire needs another order than the response had', async () => {
    const played = await claude([
      [hm('a1'), use('look'), hm('a2'), text('Meanwhile.')],
      [hm('b1'), use('look'), hm('b2')],
      [hm('c1'), use('look')],
      [hm('d1'), text('one')],
      [text('two')],
    ])
    await played.runner({ tools: [look] }).say('1')
    await played.runner({ tools: [look] }).say('2')
    expect(played.violations()).toEqual([])
    expect(played.sent()).toEqual(['', '', '', 'c1', 'c1 d1'])
  })

  it('holds after an export and an import under the same id', async () => {
    const played = await claude([
      [hm('a1'), use('look')],
      [hm('a2'), text('one')],
      [hm('b1'), text('two')],
      [text('three')],
    ])
    await played.runner({ tools: [look] }).say('1')
    const lines: unknown[] = []
    for await (const line of played.store.export(conversation)) lines.push(line)
    const store = memoryStore()
    await store.import(lines as never)
    await played.runner({ tools: [look], store }).say('2')
    await played.runner({ tools: [look], store }).say('3')
    expect(played.violations()).toEqual([])
    expect(played.sent().at(-1)).toContain('b1')
  })

  it('holds when a doubt is settled later and its result changes', async () => {
    const played = await claude([
      [hm('a1'), use('pay')],
      [hm('a2'), text('one')],
      [hm('b1'), text('two')],
      [text('three')],
    ])
    let isKnown = false
    // It never reports: after its time-out the call is in doubt.
    const pay = sampleTool('pay', () => new Promise<string>(() => {}), {
      effect: 'write',
      timeoutMs: 50,
      reconcile: async () =>
        isKnown ? { happened: 'yes', output: 'It was paid.' } : { happened: 'unknown' },
    })
    await played.runner({ tools: [pay] }).say('1')
    isKnown = true
    await played.runner({ tools: [pay] }).recover({ conversation })
    await played.runner({ tools: [pay] }).say('2')
    await played.runner({ tools: [pay] }).say('3')
    expect(played.violations()).toEqual([])
    expect(played.sent().at(-1)).toContain('b1')
    expect(JSON.stringify(played.server.requests.at(-1)?.body)).toContain('It was paid.')
  })
})

it.each(Array.from({ length: runs(40) }, (_, seed) => seed + 1))(
  'breaks no rule and loses no valid thinking in any mixture (seed %i)',
  async (seed) => {
    let state = seed
    const below = (limit: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % limit
    }
    let made = 0
    const hmm = () =>
      below(5) === 0 ? veiled(`v${made++}`) : hm(`t${made++}`, below(3) ? 'Hm.' : '')
    const words = ['x', 'y', 'z']
    const ask = () =>
      use(['fetch', 'look', 'sized', 'pay', 'nothing'][below(5)] as string, {
        q: words[below(3)],
      })
    const turns = Array.from({ length: 7 }, () => {
      const steps = Array.from({ length: below(3) }, () => [
        ...(below(4) ? [hmm()] : []),
        ...(below(3) ? [] : [text('Let me see.')]),
        ask(),
        ...(below(3) ? [] : [hmm(), ask()]),
        ...(below(9) ? [] : [text('That was it.')]),
      ])
      return [...steps, [...(below(4) ? [hmm()] : []), text(`done ${made}`)]]
    })
    const played = await claude(turns.flat())
    const all = [
      look,
      long('fetch', {}),
      long('sized', { inline: inlineBySize({ bytes: 100 }) }),
      sampleTool('pay', () => 'paid', { effect: 'write', approval: true }),
    ]
    for (const turn of turns.keys()) {
      const layer: Middleware = {
        dispatch: (ctx, next) => {
          if (below(2)) ctx.addMemory(memory(`m${below(4)}`))
          return next()
        },
      }
      const approve = () =>
        [
          { approve: true, decidedBy: 'ann' },
          { approve: false, decidedBy: 'ann' },
          { approve: true, args: { q: 'edited' }, decidedBy: 'ann' },
        ][below(3)] as never
      const outcome = await played
        .runner({
          tools: below(6) ? all : all.slice(0, 3),
          instructions: below(6) ? 'Be good.' : 'Be short.',
          middleware: [layer],
          approve,
          streaming: below(2) === 0,
          ...(below(3) ? {} : { budget: { maxTokens: 6_000 + below(4_000) } }),
        })
        .say(`turn ${turn}`)
      expect(outcome).toMatchObject({ status: 'completed' })
    }
    expect(played.violations()).toEqual([])
    expect(played.lost()).toEqual([])
  },
)

function memory(id: string): Memory {
  return new Memory({
    id,
    content: `Memory ${id}.`,
    importance: 0.5,
    confidence: 1,
    trustTier: 'first-party',
    createdAt: 0,
  })
}

function called(call_id: string) {
  const args = { name: 'look', arguments: '{"q":"o"}', status: 'completed' }
  return { type: 'function_call', id: `fc_${call_id}`, call_id, ...args }
}

function said(words: string) {
  const content = [{ type: 'output_text', text: words, annotations: [] }]
  return { type: 'message', id: `msg_${words}`, role: 'assistant', status: 'completed', content }
}
