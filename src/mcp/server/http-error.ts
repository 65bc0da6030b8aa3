/** An answer over HTTP to a request that no server object has seen. */
export function httpError(status: number, code: number, message: string): Response {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
  return new Response(body, { status, headers: { 'content-type': 'application/json' } })
}
