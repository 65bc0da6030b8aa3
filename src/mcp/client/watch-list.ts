import type { Client } from '@modelcontextprotocol/client'
import { delay } from '../../core/delay.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 60_000

/** Calls `changed` when the server says that its list changed, until `closing` aborts. */
export function watchList(client: Client, closing: AbortSignal, changed: () => void): void {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return
  client.setNotificationHandler('notifications/tools/list_changed', changed)
  if (client.getProtocolEra() === 'modern') void keepListening(client, closing, changed)
}

/** Since 2026-07-28 notifications come on a stream that the client opens; one that breaks is opened again. */
async function keepListening(
  client: Client,
  closing: AbortSignal,
  changed: () => void,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS
  while (client.transport !== undefined && !closing.aborted) {
    const began = performance.now()
    const end = await listened(client)
    if (end === 'over') return
    // A stream that held for a while is opened again soon.
    if (performance.now() - began > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS
    await delay(pauseMs, closing)
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    // The list may have changed meanwhile.
    if (end === 'broken' && client.transport !== undefined) changed()
  }
}

/** Listens on one stream until it ends. */
async function listened(client: Client): Promise<'over' | 'broken' | 'refused'> {
  try {
    const { closed } = await client.listen({ toolsListChanged: true })
    return (await closed) === 'remote' ? 'broken' : 'over'
  } catch {
    return 'refused'
  }
}
