import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createServer2 } from 'node:http2'
import { type AddressInfo, createServer as listenTo, type Socket } from 'node:net'

/** What a request is answered with; that of HTTP/2 is used in the same way. */
type Answer = (incoming: IncomingMessage, response: ServerResponse) => void

/** A server on 127.0.0.1. */
interface HttpServer {
  readonly port: number
  /** Drops all connections and stops. */
  close(): Promise<void>
}

/**
 * Starts a server that speaks HTTP/1.1 and HTTP/2 without TLS: the first bytes of a connection tell which. Amazon's
 * client speaks HTTP/2 unless told otherwise.
 */
export async function anyHttpServer(answer: Answer): Promise<HttpServer> {
  const plain = createServer(answer)
  const multiplexed = createServer2((incoming, response) =>
    answer(incoming as unknown as IncomingMessage, response as unknown as ServerResponse),
  )
  const sockets = new Set<Socket>()
  const server = listenTo((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // A client that leaves before it has asked for anything is not an error.
    socket.on('error', () => socket.destroy())
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null
      if (first === null) return
      socket.unshift(first)
      const speaks = first.toString('latin1', 0, 3) === 'PRI' ? multiplexed : plain
      speaks.emit('connection', socket)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
