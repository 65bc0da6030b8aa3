// What a service wants to know of its turns: a line for every event, what they cost, and what to answer when they fail.
import assert from 'node:assert/strict'
import { modelExecutor, Tool, TurnRunner } from 'bobbin-adk'
import { openaiChat } from 'bobbin-adk/openai'
import { loopbackProvider } from 'bobbin-adk/testing'
import OpenAI from 'openai'
import { z } from 'zod'

/** @param {object} delta @param {string | null} reason */
const chunk = (delta, reason = null) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-5.4' },
  choices: [{ index: 0, delta, finish_reason: reason }],
})
const usage = { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050 }
const cached = { ...usage, prompt_tokens_details: { cached_tokens: 800 } }
const call = { index: 0, id: 'call_1', type: 'function' }
const asked = { ...call, function: { name: 'look_up', arguments: '{"order":"A-1"}' } }
const asking = [chunk({ tool_calls: [asked] }), { ...chunk({}, 'tool_calls'), usage }]
const answering = [chunk({ content: 'On its way.' }), { ...chunk({}, 'stop'), usage: cached }]
const server = await loopbackProvider({
  api: 'openai-chat',
  exchanges: [
    { status: 429, headers: { 'retry-after': '2' } }, // too many requests: wait two seconds
    { events: asking },
    { events: answering, fault: { type: 'stall', at: 1 } }, // a stream that stands still
    { events: answering },
    { status: 401 },
  ],
})

const lookUp = new Tool({
  name: 'look_up',
  description: 'Finds an order.',
  inputSchema: z.object({ order: z.string() }),
  effect: 'read',
  handler: ({ order }) => `${order} was sent yesterday`,
})
/** @type {number[]} */
const pauses = []

// #region model
const model = openaiChat({
  // The runner tries again by itself. With the two retries of the client on top, two would make nine requests.
  client: new OpenAI({ apiKey: 'key', baseURL: server.url, maxRetries: 0, timeout: 60_000 }),
  model: 'gpt-5.4',
})
const runner = new TurnRunner({
  executor: modelExecutor(model, { maxSilenceMs: 2_000 }), // a minute or more for models that think
  tools: [lookUp],
  retries: 3, // and as long as the provider asks to wait for: `retry-after`
  limits: { timeMs: 120_000 }, // a turn
  timeoutMs: 20_000, // a call
  testing: { sleep: async (ms) => void pauses.push(ms) }, // only here: an example does not wait
})
// #endregion model

// #region log
/** @type {object[]} */
const log = []
const names = /** @type {const} */ ([
  ...['turnStart', 'turnEnd', 'iterationStart', 'iterationEnd'],
  ...['toolExecutionStart', 'toolExecutionEnd', 'budget', 'historyRepair', 'warning'],
])
for (const name of names) {
  runner.observe(name, (content, origin) => log.push({ at: Date.now(), name, ...origin, content }))
}
// A gate holds the arguments of the call; keep them out of the log.
runner.observe('gateOpened', ({ id, tool, because }, origin) => {
  log.push({ at: Date.now(), name: 'gateOpened', ...origin, content: { id, tool, because } })
})
runner.observe('gateDecided', ({ gate, decision, decidedBy }, origin) => {
  const content = { id: gate.id, tool: gate.tool, decision, decidedBy }
  log.push({ at: Date.now(), name: 'gateDecided', ...origin, content })
})
runner.observe('error', ({ error, where }, origin) => {
  log.push({ at: Date.now(), name: 'error', where, ...origin, error }) // a BobbinError goes into JSON
})
// #endregion log

// #region cost
/** Dollars for a million tokens. Prices are yours to know: they change, and contracts differ. */
const PRICE = { input: 1.25, cached: 0.125, output: 10 }
/** @param {import('bobbin-adk').TurnOutcome['usage']} usage */
const costOf = ({ inputTokens, cachedInputTokens = 0, outputTokens }) =>
  ((inputTokens - cachedInputTokens) * PRICE.input +
    cachedInputTokens * PRICE.cached +
    outputTokens * PRICE.output) /
  1_000_000
// #endregion cost

const outcome = await runner.run({ conversation: 'order', message: 'Where is order A-1?' })
assert.equal(outcome.text, 'On its way.')
assert.deepEqual(pauses, [2_000, 250])
assert.equal(costOf(outcome.usage).toFixed(6), '0.002600')
const lines = log.map((line) => JSON.stringify(line))
assert.equal(lines.filter((line) => line.includes('MODEL_RETRY')).length, 2)

// #region status
/** What a server answers. @param {import('bobbin-adk').TurnOutcome} outcome */
function statusOf({ status, reason }) {
  if (status === 'completed') return 200
  if (status === 'suspended') return 202 // a person must decide
  if (status === 'aborted') return 499 // the client has gone
  switch (reason?.errorCode ?? reason?.code) {
    case 'E_PROVIDER_RATE_LIMITED':
    case 'E_PROVIDER_UNAVAILABLE':
    case 'E_PROVIDER_UNREACHABLE':
    case 'E_STREAM_BROKEN':
      return 503 // later
    case 'E_PROVIDER_CONTEXT_TOO_LONG':
      return 413 // set `budget`, so that old results and turns make room
    case 'MAX_TIME':
      return 504
    default:
      return 500 // a wrong key, a broken store, a bug: page the operator
  }
}
// #endregion status

const failed = await runner.run({ conversation: 'order', message: 'And A-2?' })
assert.equal(failed.reason?.errorCode, 'E_PROVIDER_AUTH')
assert.deepEqual([outcome, failed].map(statusOf), [200, 500])
await server.close()
console.log(
  `${log.length} lines, $${costOf(outcome.usage).toFixed(4)}, ${failed.reason?.errorCode}`,
)
