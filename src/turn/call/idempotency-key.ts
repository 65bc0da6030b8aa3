/**
 * The key of a call for every attempt at it. Models and applications choose both parts, so the call's id is
 * escaped: the last `/` always separates them, and two calls never share a key.
 */
export function idempotencyKeyOf(conversation: string, callId: string): string {
  return `${conversation}/${callId.replaceAll('%', '%25').replaceAll('/', '%2F')}`
}
