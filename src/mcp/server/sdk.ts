import type { Server } from '@modelcontextprotocol/server'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'

/** The official SDK for servers. */
export type Sdk = Awaited<ReturnType<typeof loadSdk>>

/** Loads the SDK, which is an optional peer. */
export async function loadSdk() {
  try {
    return await import('@modelcontextprotocol/server')
  } catch (cause) {
    const name = '@modelcontextprotocol/server'
    const message = `The \`${name}\` package was not found: run \`npm install ${name}\`.`
    const reason = thrownText(cause)
    throw new BobbinError('E_MCP_UNAVAILABLE', message, { reason }, { cause })
  }
}

/** Calls `listener` when the server object is closed, after those that came before. */
export function onClosed(server: Server, listener: () => void): void {
  const before = server.onclose
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the server is not an event target
  server.onclose = () => {
    before?.()
    listener()
  }
}
