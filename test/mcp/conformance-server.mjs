// The server that the official conformance suite drives, over HTTP: tools under the names that its scenarios call.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { bytesMedia, inputRequired, Media, Tool } from 'bobbin-adk'
import { mcpServer } from 'bobbin-adk/mcp'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const WAV = Buffer.from('UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=', 'base64')

const trusted = /** @type {const} */ ({ trustTier: 'first-party', modalityHazard: 'inert' })
const picture = () =>
  new Media({
    ...trusted,
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    reader: bytesMedia(PNG),
  })
const sound = () =>
  new Media({
    ...trusted,
    kind: 'audio',
    mimeType: 'audio/wav',
    filename: 'a.wav',
    reader: bytesMedia(WAV),
  })
const page = () =>
  new Media({
    ...trusted,
    kind: 'document',
    mimeType: 'application/pdf',
    filename: 'a.pdf',
    reader: bytesMedia(Buffer.from('%PDF-1.4')),
  })

/**
 * @param {string} name
 * @param {(args: any, ctx: import('bobbin-adk').ToolContext) => any} handler
 * @param {any} [inputSchema]
 */
const tool = (name, handler, inputSchema = { type: 'object', properties: {} }) =>
  new Tool({ name, description: `The tool ${name}.`, inputSchema, effect: 'idempotent', handler })

/**
 * A tool that asks once.
 *
 * @param {string} name
 * @param {string} message
 * @param {any} properties
 */
const asking = (name, message, properties) =>
  tool(name, (_, { input }) =>
    input === undefined
      ? inputRequired({
          message,
          schema: { type: 'object', properties, required: Object.keys(properties) },
        })
      : `Answered: ${JSON.stringify(input.value)}`,
  )

const text = { type: 'string' }

/** Options with titles, as forms have them. */
const titled = (/** @type {string[]} */ ...values) =>
  values.map((value) => ({ const: value, title: `The ${value}` }))
const options = ['option1', 'option2', 'option3']

/** @type {Tool[]} */
const tools = []
const server = mcpServer({ name: 'bobbin-conformance', tools })
tools.push(
  ...[
    tool('test_simple_text', () => 'This is a simple text response for testing.'),
    tool('test_image_content', picture),
    tool('test_audio_content', sound),
    tool('test_embedded_resource', page),
    tool('test_multiple_content_types', () => ['Multiple content types test:', picture(), page()]),
    tool('test_error_handling', () => {
      throw new Error('This tool intentionally returns an error for testing')
    }),
    tool('test_tool_with_progress', async (_, ctx) => {
      for (const progress of [0, 50, 100]) {
        ctx.progress({ progress, total: 100 })
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return 'Done.'
    }),
    asking('test_elicitation', 'What is your name?', { username: text, email: text }),
    asking('test_elicitation_sep1034_defaults', 'Your settings?', {
      name: { ...text, default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { ...text, enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
    asking('test_elicitation_sep1330_enums', 'Which ones?', {
      untitledSingle: { ...text, enum: options },
      titledSingle: { ...text, oneOf: titled('value1', 'value2', 'value3') },
      legacyEnum: {
        ...text,
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { ...text, enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled('value1', 'value2', 'value3') } },
    }),
    // The server has no log, and so must be silent.
    tool('test_logging_tool', () => 'Nothing is logged.'),
    tool('test_trigger_tool_change', () => {
      tools.push(tool(`test_added_${tools.length}`, () => 'ok'))
      server.toolsChanged()
      return 'The list has one tool more.'
    }),
    tool('test_header', ({ region }) => `In ${region}.`, {
      type: 'object',
      properties: { region: { ...text, 'x-mcp-header': 'Region' } },
    }),
    asking('test_input_required_result_elicitation', 'What is your name?', { name: text }),
    asking('test_input_required_result_request_state', 'Please confirm', {
      ok: { type: 'boolean' },
    }),
    asking('test_input_required_result_tampered_state', 'Please confirm', {
      ok: { type: 'boolean' },
    }),
    asking('test_input_required_result_capabilities', 'What is your name?', { name: text }),
    asking('test_missing_capability', 'What is your name?', { name: text }),
    asking('test_streaming_elicitation', 'What is your name?', { name: text }),
    tool('test_input_required_result_multi_round', (_, { input }) => {
      const step = /** @type {any} */ (input?.state)?.step ?? 0
      if (step === 2) return 'Both steps are done.'
      const asked = step === 0 ? { name: text } : { color: text }
      return inputRequired({
        message: `Step ${step + 1}`,
        schema: { type: 'object', properties: asked },
        state: { step: step + 1 },
      })
    }),
    tool('json_schema_2020_12_tool', () => 'ok', {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: text, city: text },
        },
      },
      properties: {
        name: text,
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: text,
        email: text,
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    }),
  ],
)

/**
 * @param {import('node:http').IncomingMessage} incoming
 * @param {import('node:http').ServerResponse} outgoing
 */
async function answer(incoming, outgoing) {
  const { method = 'GET', url = '/', headers } = incoming
  const body = method === 'POST' ? Readable.toWeb(incoming) : null
  const request = new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: /** @type {Record<string, string>} */ (headers),
    ...(body && { body: /** @type {ReadableStream} */ (body), duplex: 'half' }),
  })
  const response = await server.handle(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  for await (const chunk of response.body ?? []) outgoing.write(chunk)
  outgoing.end()
}

const http = createServer((incoming, outgoing) => void answer(incoming, outgoing))
http.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (http.address())
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`)
})
