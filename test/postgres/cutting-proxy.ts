import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * Which message to the server breaks the connection: before it gets there, or before its answer does; or
 * silences it from there on, as a machine does that has lost its power.
 */
export interface Cut {
  /** Counted from 1, from the moment the cut was set; or the first that holds a word. */
  readonly message: number | string
  readonly side: 'unsent' | 'unanswered' | 'silent'
  /** Nobody gets through any more afterwards. */
  readonly isLast?: boolean
}

/** A way to a server on which connections break off. */
export interface CuttingProxy {
  readonly url: string
  /** Breaks one connection off, once. */
  set(cut: Cut): void
  /** Whether the cut that was set last has been made. */
  readonly wasCut: boolean
  close(): Promise<void>
}

/** Stands between a client and the server at `url`. */
export async function cuttingProxy(url: string): Promise<CuttingProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let cut: Cut | undefined
  let messages = 0

  const isMeant = ({ message }: Cut, data: Buffer) =>
    typeof message === 'number' ? message === messages : data.includes(message)

  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    const breakOff = () => {
      client.destroy()
      server.destroy()
    }
    client.on('close', breakOff)
    server.on('close', breakOff)
    let isDeaf = false
    let isSilent = false
    client.on('data', (data) => {
      messages++
      if (cut !== undefined && isMeant(cut, data)) {
        const { side, isLast = false } = cut
        cut = undefined
        if (isLast) proxy.close()
        if (side === 'unsent') return breakOff()
        isDeaf = side === 'unanswered'
        isSilent = side === 'silent'
      }
      if (!isSilent) server.write(data)
    })
    // The server has done what it was asked when it answers.
    server.on('data', (data) => (isDeaf ? breakOff() : client.write(data)))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')

  const own = new URL(url)
  own.port = String((proxy.address() as AddressInfo).port)
  return {
    url: own.href,
    set(next) {
      cut = next
      messages = 0
    },
    get wasCut() {
      return cut === undefined
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      if (!proxy.listening) return
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
