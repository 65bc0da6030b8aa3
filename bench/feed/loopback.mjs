// `loopbackProvider` in a process of its own, so that its time is not ours. Its answers are texts of many deltas: under
// `each`, every event is a write; under `joined`, 16 KB are.
import { loopbackProvider } from '../../dist/testing/index.js'

const [deltas, answers] = process.argv.slice(2).map(Number)
const chunk = { id: 'chatcmpl_1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const event = (delta, reason = null) => ({
  ...chunk,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
})
const events = [
  event({ role: 'assistant', content: '' }),
  ...Array.from({ length: deltas }, (_, i) => event({ content: ` word${i % 100}` })),
  event({}, 'stop'),
]
const start = (exchange) =>
  loopbackProvider({ api: 'openai-chat', exchanges: Array(answers).fill(exchange) })
const each = await start({ events })
const joined = await start({ events, chunkBytes: 16_384 })
process.send({ each: each.url, joined: joined.url })
process.on('disconnect', () => process.exit())
