import type { LoopbackExchange } from './loopback-exchange.ts'
import { bytesOf } from './recording.ts'

/** A block of the Messages protocol, as it stands on the wire. */
export type WireBlock = Readonly<Record<string, unknown>>

/** The blocks that an exchange of the Messages protocol answers with. */
export function answeredBlocks(exchange: LoopbackExchange, isStream: boolean): WireBlock[] {
  if (isStream) return streamedBlocks(eventsOf(exchange))
  const body = typeof exchange.body === 'string' ? parsed(exchange.body) : exchange.body
  const content = (body as { readonly content?: unknown } | null | undefined)?.content
  return Array.isArray(content) ? (content as WireBlock[]) : []
}

function eventsOf({ events, recording }: LoopbackExchange): readonly WireBlock[] {
  const all: readonly unknown[] =
    recording === undefined
      ? (events ?? [])
      : Array.from(
          bytesOf(recording)
            .toString()
            .matchAll(/^data: ?(.*)$/gm),
          ([, data]) => data,
        )
  return all.flatMap((event): WireBlock[] => {
    const value = typeof event === 'string' ? parsed(event) : event
    return typeof value === 'object' && value !== null ? [{ ...value }] : []
  })
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function streamedBlocks(events: readonly WireBlock[]): WireBlock[] {
  const blocks = new Map<unknown, Record<string, unknown>>()
  const inputs = new Map<unknown, string>()
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') blocks.set(index, { ...(block as WireBlock) })
    const open = blocks.get(index)
    if (type !== 'content_block_delta' || open === undefined) continue
    const { type: _, partial_json: json, citation, ...texts } = (delta ?? {}) as WireBlock
    if (json !== undefined) inputs.set(index, `${inputs.get(index) ?? ''}${wordOf(json)}`)
    if (citation !== undefined)
      open['citations'] = [...((open['citations'] as unknown[] | null) ?? []), citation]
    for (const [name, piece] of Object.entries(texts))
      open[name] = `${wordOf(open[name])}${wordOf(piece)}`
  }
  for (const [index, json] of inputs) {
    const block = blocks.get(index)
    if (block !== undefined) block['input'] = json === '' ? {} : parsed(json)
  }
  return [...blocks.values()]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
