// A server process that answers every POST with 10,000 events of the Responses protocol, as text deltas
// (`/text/…`) or argument deltas (`/arguments/…`). It is a process of its own so that its time is not ours.
import { createServer } from 'node:http'

const EVENTS = 10_000
const frame = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', tools: [] }
const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
}

function stream(item, delta, whole) {
  const id = item.id
  const pieces = Array.from({ length: EVENTS }, (_, i) => ` word${i % 100}`)
  const done = whole(pieces.join(''))
  const status = 'completed'
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...delta(id, pieces),
    { type: 'response.output_item.done', output_index: 0, item: done },
    { type: 'response.completed', response: { ...response, status, output: [done], usage } },
  ]
    .map((event, sequence_number) => frame({ ...event, sequence_number }))
    .join('')
}

const message = {
  type: 'message',
  id: 'msg_1',
  status: 'in_progress',
  role: 'assistant',
  content: [],
}
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'write', arguments: '' }

const bodies = {
  text: stream(
    message,
    (item_id, pieces) => {
      const at = { item_id, output_index: 0, content_index: 0 }
      const part = { type: 'output_text', text: '', annotations: [] }
      return [
        { type: 'response.content_part.added', ...at, part },
        ...pieces.map((delta) => ({
          type: 'response.output_text.delta',
          ...at,
          delta,
          logprobs: [],
        })),
      ]
    },
    (text) => ({
      ...message,
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    }),
  ),
  arguments: stream(
    call,
    (item_id, pieces) =>
      ['{"text":"', ...pieces, '"}'].map((delta) => ({
        type: 'response.function_call_arguments.delta',
        item_id,
        output_index: 0,
        delta,
      })),
    (text) => ({ ...call, status: 'completed', arguments: `{"text":"${text}"}` }),
  ),
}

const chunks = Object.fromEntries(
  Object.entries(bodies).map(([name, body]) => [name, body.match(/[\s\S]{1,16384}/g)]),
)

const server = createServer((request, reply) => {
  request.resume()
  request.on('end', () => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks[request.url.split('/')[1]]) reply.write(chunk)
    reply.end()
  })
})
// Kept open while a slow contender is busy; closing them early would fail the next request.
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
