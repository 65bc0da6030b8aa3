import { afterEach, describe, expect, it } from 'vitest'
import { answered, asked, clientOf, plain } from '../../../test/mcp/serving.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { type McpServerOptions, mcpServer } from './mcp-server.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const YES = { action: 'accept', content: { approve: true } }

async function served(options: McpServerOptions) {
  const server = mcpServer(options)
  const client = await clientOf(server)
  open.push(server, client)
  return client
}

const deleting = (ran: string[], more: object = {}) =>
  plain('delete', () => void ran.push('ran'), { effect: 'write', approval: true, ...more })

describe('an answer to an approval', () => {
  it('does not count on a server that takes no approvals any more', async () => {
    const ran: string[] = []
    const store = memoryStore()
    const tools = [deleting(ran)]
    const before = await served({ tools, store, approvals: 'client' })
    const question = await asked(before, 'delete')
    const after = await served({ tools, store })
    expect(await answered(after, 'delete', question, YES)).toMatchObject({ isError: true })
    expect([ran, await store.openGates()]).toEqual([[], []])
  })
})
