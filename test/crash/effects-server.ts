import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One thing that a handler did to the world. */
export interface Effect {
  readonly tool: string
  readonly call: string
  readonly key: string
  /** What the handler says to the model afterwards. */
  readonly text: string
}

/** The world outside of the runner: it remembers what was done to it, whoever died since. */
export interface EffectsServer {
  /** Where the handlers of one case report; cases do not see one another. */
  urlFor(scope: string): string
  effects(scope: string): readonly Effect[]
  /** Begins a case with what was done in another one. */
  copy(from: string, to: string): void
  close(): Promise<void>
}

/** Starts the outside world on 127.0.0.1: POST does something, GET `?key=` tells what was done under a key. */
export async function effectsServer(): Promise<EffectsServer> {
  const done = new Map<string, Effect[]>()
  const listOf = (scope: string) => {
    const list = done.get(scope) ?? []
    done.set(scope, list)
    return list
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://effects')
    const list = listOf(pathname.slice(1))
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      if (request.method === 'POST') list.push(JSON.parse(body) as Effect)
      const key = searchParams.get('key')
      const found = list.filter((effect) => effect.key === key)
      response.setHeader('content-type', 'application/json')
      // Without keep-alive a dying runner cannot leave a half-used connection behind.
      response.setHeader('connection', 'close')
      response.end(JSON.stringify({ found }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    urlFor: (scope) => `http://127.0.0.1:${port}/${scope}`,
    effects: (scope) => [...listOf(scope)],
    copy: (from, to) => void done.set(to, [...listOf(from)]),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
