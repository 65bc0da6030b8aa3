import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toolNamed } from './wire-server.ts'

/** A piece of every secret that these servers give out. */
export const CANARY = 'quagga42'

interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

type Route = (request: IncomingMessage, body: string, url: URL) => Answer

async function serve(route: Route): Promise<{ server: Server; origin: string }> {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const url = new URL(request.url ?? '/', 'http://here')
    const { status = 200, headers = {}, body: given } = route(request, body, url)
    const isText = typeof given === 'string'
    response.writeHead(status, {
      'content-type': isText ? 'text/html' : 'application/json',
      ...headers,
    })
    response.end(isText ? given : given === undefined ? undefined : JSON.stringify(given))
  }
  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** What a test changes about the servers; it may change while they run. */
export interface SignInOptions {
  /** Whether the list of tools needs a token too. */
  closedList?: boolean
  /** The page that the metadata names in place of the real one. */
  page?: string
  /** Answers in place of the token endpoint. */
  token?: () => Answer
  /** The scope without which calls get 403. */
  needs?: string
}

/** An MCP server with one tool, and the authorization server in front of it, both over HTTP on this machine. */
export async function signInServers(options: SignInOptions = {}) {
  const log = { calls: 0, tokens: [] as string[], headers: [] as unknown[] }
  const codes = new Map<string, { challenge: string; scope: string }>()
  const valid = new Map<string, string>()
  let count = 0

  const issue = (scope: string): Answer => {
    count += 1
    const access = `access-${CANARY}-${count}`
    valid.set(access, scope)
    const refresh = `refresh-${CANARY}-${count}`
    return { body: { access_token: access, token_type: 'Bearer', refresh_token: refresh } }
  }

  const authorization = await serve((request, body, { pathname, searchParams }) => {
    log.headers.push(request.headers)
    const issuer = authorization.origin
    switch (pathname) {
      case '/.well-known/oauth-authorization-server':
        return {
          body: {
            issuer,
            authorization_endpoint: options.page ?? `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            registration_endpoint: `${issuer}/register`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
            authorization_response_iss_parameter_supported: true,
          },
        }
      case '/register': {
        const secret = { client_id: 'made', client_secret: `client-${CANARY}` }
        return { status: 201, body: { ...(JSON.parse(body) as object), ...secret } }
      }
      case '/authorize': {
        count += 1
        const code = `code-${CANARY}-${count}`
        const scope = searchParams.get('scope') ?? ''
        codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', scope })
        const back = new URL(searchParams.get('redirect_uri') ?? '')
        back.search = `${new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: issuer })}`
        return { status: 302, headers: { location: back.href } }
      }
      default: {
        const form = new URLSearchParams(body)
        log.tokens.push(form.get('grant_type') ?? '')
        if (options.token !== undefined) return options.token()
        if (form.get('grant_type') === 'refresh_token') return issue('')
        const made = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url')
        const code = codes.get(form.get('code') ?? '')
        codes.delete(form.get('code') ?? '')
        const isRight = code !== undefined && code.challenge === made
        return isRight ? issue(code.scope) : { status: 400, body: { error: 'invalid_grant' } }
      }
    }
  })

  const mcp = await serve((request, body, { pathname }) => {
    const metadata = `${mcp.origin}/.well-known/oauth-protected-resource/mcp`
    if (pathname !== '/mcp') {
      if (new URL(metadata).pathname !== pathname) return { status: 404 }
      const authorization_servers = [authorization.origin]
      return { body: { resource: `${mcp.origin}/mcp`, authorization_servers } }
    }
    if (request.method !== 'POST') return { status: 405 }
    const { id, method } = JSON.parse(body) as { id?: number; method: string }
    const answer = (result: object) => ({ body: { jsonrpc: '2.0', id, result } })
    const isClosed =
      method === 'tools/call' || (method === 'tools/list' && options.closedList === true)
    const scope = valid.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
    const refuse = (status: number, words: string) => {
      const challenge = `Bearer resource_metadata="${metadata}"${words}`
      return { status, headers: { 'www-authenticate': challenge } }
    }
    if (isClosed && scope === undefined) return refuse(401, '')
    if (isClosed && options.needs !== undefined && !scope?.split(' ').includes(options.needs)) {
      return refuse(403, `, error="insufficient_scope", scope="${options.needs}"`)
    }
    switch (method) {
      case 'initialize': {
        const serverInfo = { name: 'shop', version: '1' }
        return answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })
      }
      case 'tools/list':
        return answer({ tools: [toolNamed('buy')] })
      case 'tools/call':
        log.calls += 1
        return answer({ content: [{ type: 'text', text: 'bought' }] })
      default:
        return { status: method === 'server/discover' ? 400 : 202 }
    }
  })

  return {
    log,
    url: `${mcp.origin}/mcp`,
    issuer: authorization.origin,
    /** Makes every token that was given out worthless. */
    expire: () => valid.clear(),
    /** Does what the browser of a person does, and gives the URL under which the person comes back. */
    visit: async (page: string): Promise<string> => {
      const response = await fetch(page, { redirect: 'manual' })
      return response.headers.get('location') ?? ''
    },
    close: () => {
      for (const { server } of [mcp, authorization]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}
