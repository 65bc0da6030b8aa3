import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wireModel } from '../src/model/wire-model.ts'
import { anthropicMessagesProvider } from '../src/providers/anthropic/definition.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { requestOf } from '../src/wire/index.ts'
import { runs } from './runs.ts'
import { sampleTool } from './turn-samples.ts'

/** One turn: how many calls the model asks for, how long the results are, and whether the last question is asked again. */
interface Played {
  readonly calls: number
  readonly words: number
  readonly again: boolean
  readonly fails: boolean
  /** Whether the same runner goes on. */
  readonly goesOn: boolean
}

const turn: fc.Arbitrary<Played> = fc.record({
  calls: fc.nat(7),
  words: fc.constantFrom(5, 60, 200),
  again: fc.boolean(),
  fails: fc.boolean(),
  goesOn: fc.boolean(),
})

const settings = fc.record({
  at: fc.constantFrom(400, 1_500, 2_500, 3_500),
  keepTurns: fc.constantFrom(1, 2),
  room: fc.constantFrom(0, 300, 100_000),
  inline: fc.boolean(),
})

/** Plays turns on Claude's protocol; gives the bodies that were sent. */
async function play(
  turns: readonly Played[],
  given: { at: number; keepTurns: number; room: number; inline: boolean },
) {
  const store = memoryStore()
  const bodies: object[] = []
  let now = turns[0] as Played
  let asked = 0
  let ids = 0
  const send = async (body: object) => {
    bodies.push(body)
    const isCall = asked++ < now.calls
    const block = isCall
      ? { type: 'tool_use', id: `toolu_${ids++}`, name: 'look', input: { q: `${ids}` } }
      : { type: 'text', text: 'so it is '.repeat(now.words) }
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const stop_reason = isCall ? 'tool_use' : 'end_turn'
    return { payload: { ...head, content: [block], stop_reason, stop_sequence: null, usage } }
  }
  const make = () =>
    new TurnRunner({
      model: wireModel(anthropicMessagesProvider, {
        model: 'claude',
        params: { max_tokens: 99 },
        stream: false,
        send,
      }),
      store,
      tools: [
        sampleTool('look', ({ q }) => `${q} found `.repeat(now.words), { inline: given.inline }),
      ],
      budget: { maxTokens: given.at + given.room + 4_000 },
      retries: 0,
      compact: {
        at: given.at,
        keepTurns: given.keepTurns,
        summarise: ({ items, previous = '' }) => {
          if (now.fails) throw new Error('No summary.')
          return `${previous} ${items.length}`
        },
      },
    })
  let runner = make()
  for (const [at, each] of turns.entries()) {
    now = each
    asked = 0
    if (!each.goesOn) runner = make()
    const conversation = 'c'
    const { status, reason } = await (each.again && at > 0
      ? runner.regenerate({ conversation })
      : runner.run({ conversation, message: `Question ${at}` }))
    if (status !== 'completed') throw new Error(`${status}: ${reason?.message}`)
  }
  return { store, bodies }
}

describe('any mixture of summaries and questions that are asked again', () => {
  it('gives requests that are valid, and the same when the log is read', async () => {
    let summaries = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 2, maxLength: 7 }),
        settings,
        async (turns, given) => {
          const { store, bodies } = await play(turns, given)
          const proven: boolean[] = []
          for await (const { kind, data } of store.entries('c')) {
            if (kind === 'summary') summaries++
            if (kind !== 'model-call') continue
            const rebuilt = await requestOf(store, { conversation: 'c', modelCall: data.id })
            proven.push(rebuilt.proven)
          }
          expect(proven).toEqual(bodies.map(() => true))
          const { validate } = anthropicMessagesProvider
          expect(bodies.flatMap((body) => validate?.(body) ?? [])).toEqual([])
          expect(await store.verify({ conversation: 'c' })).toMatchObject({ ok: true })
        },
      ),
      { numRuns: runs(150), seed: 1 },
    )
    expect(summaries).toBeGreaterThan(5)
  }, 120_000)
})
