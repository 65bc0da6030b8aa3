// A server process that answers every POST with a streamed response of 10,000 deltas: the first two
// segments of the path say in which protocol, and whether of text or of arguments
// (`/responses/text/…`). It is a process of its own so that its time is not ours.
import { createServer } from 'node:http'

const EVENTS = 10_000
const named = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const bare = (event) => `data: ${JSON.stringify(event)}\n\n`
const words = Array.from({ length: EVENTS }, (_, i) => ` word${i % 100}`)
const argumentsText = `{"text":"${words.join('')}"}`
const argumentDeltas = ['{"text":"', ...words, '"}']

const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', tools: [] }
const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
}

function responses(item, deltas, done) {
  const status = 'completed'
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...deltas,
    { type: 'response.output_item.done', output_index: 0, item: done },
    { type: 'response.completed', response: { ...response, status, output: [done], usage } },
  ]
    .map((event, sequence_number) => named({ ...event, sequence_number }))
    .join('')
}

function responsesText() {
  const item = { type: 'message', id: 'msg_1', status: 'in_progress', role: 'assistant' }
  const at = { item_id: item.id, output_index: 0, content_index: 0 }
  const part = { type: 'output_text', text: '', annotations: [] }
  const deltas = words.map((delta) => ({
    type: 'response.output_text.delta',
    ...at,
    delta,
    logprobs: [],
  }))
  const content = [{ ...part, text: words.join(''), logprobs: [] }]
  return responses(
    { ...item, content: [] },
    [{ type: 'response.content_part.added', ...at, part }, ...deltas],
    { ...item, status: 'completed', content },
  )
}

function responsesArguments() {
  const item = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'write',
    arguments: '',
  }
  const deltas = argumentDeltas.map((delta) => ({
    type: 'response.function_call_arguments.delta',
    item_id: item.id,
    output_index: 0,
    delta,
  }))
  return responses(item, deltas, { ...item, status: 'completed', arguments: argumentsText })
}

function chat(deltas, finish_reason) {
  const chunk = { id: 'chatcmpl_1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const choice = (delta, reason = null) => ({
    ...chunk,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  })
  const chunks = [...deltas.map((delta) => choice(delta)), choice({}, finish_reason)]
  return `${chunks.map(bare).join('')}data: [DONE]\n\n`
}

const chatText = () =>
  chat([{ role: 'assistant', content: '' }, ...words.map((content) => ({ content }))], 'stop')

function chatArguments() {
  const call = { id: 'call_1', type: 'function', function: { name: 'write', arguments: '' } }
  const piece = (text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })
  const opening = { role: 'assistant', content: null, tool_calls: [{ index: 0, ...call }] }
  return chat([opening, ...argumentDeltas.map(piece)], 'tool_calls')
}

function anthropic(content_block, deltas, stop_reason) {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
    .map(named)
    .join('')
}

const anthropicText = () =>
  anthropic(
    { type: 'text', text: '' },
    words.map((text) => ({ type: 'text_delta', text })),
    'end_turn',
  )

const anthropicArguments = () =>
  anthropic(
    { type: 'tool_use', id: 'toolu_1', name: 'write', input: {} },
    argumentDeltas.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    'tool_use',
  )

/** This one sends arguments whole, so there is text alone. */
function geminiText() {
  const chunk = (text, more = {}) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
    modelVersion: 'm',
    responseId: 'r_1',
  })
  const chunks = [...words.map((text) => chunk(text)), chunk('', { finishReason: 'STOP' })]
  return chunks.map(bare).join('')
}

function interactions(step, deltas, status) {
  const interaction = { id: 'v1', object: 'interaction', model: 'm' }
  return [
    { event_type: 'interaction.created', interaction: { ...interaction, status: 'in_progress' } },
    { index: 0, step, event_type: 'step.start' },
    ...deltas.map((delta) => ({ index: 0, delta, event_type: 'step.delta' })),
    { index: 0, event_type: 'step.stop' },
    { event_type: 'interaction.completed', interaction: { ...interaction, status } },
  ]
    .map((event) => `event: ${event.event_type}\n${bare(event)}`)
    .join('')
}

const interactionsText = () =>
  interactions(
    { type: 'model_output' },
    words.map((text) => ({ text, type: 'text' })),
    'completed',
  )

const interactionsArguments = () =>
  interactions(
    { type: 'function_call', id: 'call0001', name: 'write', arguments: {}, signature: '' },
    argumentDeltas.map((text) => ({ arguments: text, type: 'arguments_delta' })),
    'requires_action',
  )

const bodies = {
  'responses/text': responsesText(),
  'responses/arguments': responsesArguments(),
  'chat/text': chatText(),
  'chat/arguments': chatArguments(),
  'anthropic/text': anthropicText(),
  'anthropic/arguments': anthropicArguments(),
  'gemini/text': geminiText(),
  'interactions/text': interactionsText(),
  'interactions/arguments': interactionsArguments(),
}

const chunks = Object.fromEntries(
  Object.entries(bodies).map(([name, body]) => [name, body.match(/[\s\S]{1,16384}/g)]),
)

const server = createServer((request, reply) => {
  request.resume()
  request.on('end', () => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks[request.url.split('/').slice(1, 3).join('/')]) reply.write(chunk)
    reply.end()
  })
})
// Kept open while a slow contender is busy; closing them early would fail the next request.
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
