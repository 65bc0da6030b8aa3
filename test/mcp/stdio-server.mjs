// A server of the official SDK over stdio, for tests. Its argument is a file that gets a line for each call that takes effect.
import { appendFileSync, existsSync } from 'node:fs'
import { inputRequired, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const [effects = ''] = process.argv.slice(2)
const took = (/** @type {string} */ name) => appendFileSync(effects, `${name}\n`)

const tools = ['echo', 'die', 'stumble', 'form'].map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: /** @type {const} */ ({ type: 'object' }),
}))

const requestedSchema = {
  type: /** @type {const} */ ('object'),
  properties: { city: { type: /** @type {const} */ ('string') } },
  required: ['city'],
}

serveStdio(() => {
  const server = new Server({ name: 'stdio', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    const text = (/** @type {string} */ value) => ({
      content: [{ type: /** @type {const} */ ('text'), text: value }],
    })
    switch (params.name) {
      case 'die':
        took('die')
        process.kill(process.pid, 'SIGKILL')
        return text('never')
      case 'stumble': {
        const isFirst = !existsSync(effects)
        took('stumble')
        if (isFirst) process.kill(process.pid, 'SIGKILL')
        return text('well')
      }
      case 'form': {
        const responses = ctx.mcpReq.inputResponses
        if (responses === undefined) {
          const city = inputRequired.elicit({ message: 'Which city?', requestedSchema })
          return inputRequired({ inputRequests: { city }, requestState: `asked by ${process.pid}` })
        }
        took(`form ${JSON.stringify(responses)}`)
        return text(String(ctx.mcpReq.requestState()))
      }
      default:
        return text(JSON.stringify(params.arguments))
    }
  })
  return server
})
