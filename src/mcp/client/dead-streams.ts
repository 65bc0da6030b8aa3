import type { Client, Transport } from '@modelcontextprotocol/client'
import { STREAM_ENDED } from './fate.ts'

const watched = new WeakSet<Transport>()

/**
 * Ends a request whose stream ended without a response: over HTTP the client would wait for it until its time is over. A
 * response that came before stays the response, since the client takes only the first.
 */
export function endWithStreams({ transport }: Client): void {
  if (transport === undefined || watched.has(transport)) return
  watched.add(transport)
  const send = transport.send.bind(transport)
  transport.send = (message, options = {}) => {
    const isRequest = 'method' in message && 'id' in message && message.id !== undefined
    if (!isRequest || options.onRequestStreamEnd !== undefined) return send(message, options)
    const { id } = message
    const error = { code: STREAM_ENDED, message: 'the stream ended without a response' }
    const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: '2.0', id, error })
    return send(message, { ...options, onRequestStreamEnd })
  }
}
