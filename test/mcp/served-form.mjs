// A Bobbin server over stdio with a tool that asks a form. Its arguments are a database, and a file that gets a line for each effect.
import { appendFileSync, writeFileSync } from 'node:fs'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { inputRequired, Tool } from 'bobbin-adk'
import { mcpServer } from 'bobbin-adk/mcp'
import { sqliteStore } from 'bobbin-adk/sqlite'

const [database = '', effects = ''] = process.argv.slice(2)
writeFileSync(`${effects}.pid`, `${process.pid}`)

const book = new Tool({
  name: 'form',
  description: 'Books a room.',
  inputSchema: { type: 'object' },
  effect: 'write',
  handler(_, { input }) {
    if (input === undefined) {
      const properties = { city: { type: /** @type {const} */ ('string') } }
      const schema = { type: /** @type {const} */ ('object'), properties, required: ['city'] }
      return inputRequired({
        message: 'Which city?',
        schema,
        state: `asked by ${process.pid}`,
      })
    }
    appendFileSync(effects, `${JSON.stringify(input.value)}\n`)
    return typeof input.state === 'string' ? input.state : ''
  },
})

const server = mcpServer({ tools: [book], store: sqliteStore(database) })
await server.connect(new StdioServerTransport())
