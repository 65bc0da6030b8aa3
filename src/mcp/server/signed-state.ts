import { hmac128 } from '#hash'
import type { RunnerStore } from '../../store/store.ts'

/** Which gate of which call a client answers. */
export interface CallState {
  readonly conversation: string
  readonly gate: string
  /** The checksum of tool and arguments: the answer counts for no other call. */
  readonly call: string
}

/** The state that a client carries: readable, and signed with the key of its conversation, so that it survives a restart. */
export async function signState(store: RunnerStore, state: CallState): Promise<string> {
  const { conversation, gate, call } = state
  const body = encodeURIComponent(JSON.stringify([conversation, gate, call]))
  return `${body}.${hmac128(await store.key(conversation), `mcp-state ${body}`)}`
}

/** Reads a state. Throws if this server did not sign it. */
export async function readState(store: RunnerStore, signed: string): Promise<CallState> {
  const end = signed.lastIndexOf('.')
  const body = signed.slice(0, end)
  const [conversation, gate, call] = JSON.parse(decodeURIComponent(body)) as string[]
  const key = await store.key(String(conversation))
  if (!isSame(hmac128(key, `mcp-state ${body}`), signed.slice(end + 1))) {
    throw new Error('The state was not signed by this server.')
  }
  return { conversation: String(conversation), gate: String(gate), call: String(call) }
}

/** Takes the same time wherever the texts differ. */
function isSame(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}
