import { createHash, type Hash } from 'node:crypto'
import type { Violation } from '../../model/wire/wire-adapter.ts'
import { bindsThinking } from '../../providers/anthropic/thinking/binding-models.ts'
import type { LoopbackExchange, LoopbackRequest, RequestMemory } from './loopback-exchange.ts'
import { answeredBlocks, type WireBlock } from './messages-answer.ts'

/** What a thinking block was given out under. */
interface Issue {
  readonly prefix: string
  /** The thinking that the request and the response had before it, in order. */
  readonly before: readonly string[]
  /** All thinking of its response. */
  readonly response: readonly string[]
}

interface Body {
  readonly model?: unknown
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages?: unknown
  readonly thinking?: unknown
}

const DROP_BETA = 'thinking-binding-controls-2026-08-01'
const MISMATCH =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation.'
const PARTIAL =
  '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.'

/**
 * Claude's rule: a thinking block is valid only after the same system prompt, tools, messages and thinking as when it
 * was produced. It shares no code with the encoder that it checks.
 */
export function boundThinking(): RequestMemory {
  const issued = new Map<string, Issue[]>()

  function check({ body, headers }: Pick<LoopbackRequest, 'body' | 'headers'>): Violation[] {
    const request = (body ?? {}) as Body
    if (!bindsThinking(JSON.stringify(request.model) ?? '') || dropsBlocks(request, headers))
      return []
    const found: Violation[] = []
    const report = (path: string, message: string, prevents: string) =>
      found.push({ rule: 'bound-thinking', path, message, prevents })
    const before: string[] = []
    const walk = new Walk(request)
    for (const { block, path } of walk.blocks(request.messages)) {
      const id = signed(block)
      if (id === undefined) continue
      const issues = issued.get(id) ?? []
      const prefix = walk.digest
      const fits = issues.filter((issue) => issue.prefix === prefix)
      if (issues.length === 0) report(path, 'this server gave out no such block', MISMATCH)
      else if (fits.length === 0) report(path, 'what stands before it has changed', MISMATCH)
      else if (!fits.some((issue) => endsWith(issue.before, before)))
        report(path, 'the thinking before it has changed', MISMATCH)
      before.push(id)
    }
    const latest = latestThinking(request.messages)
    const cut = latest.find(
      (id) =>
        !(issued.get(id) ?? []).some(({ response }) =>
          response.every((each) => latest.includes(each)),
        ),
    )
    if (found.length === 0 && cut !== undefined)
      report('messages', 'a part of the latest thinking is missing', PARTIAL)
    return found
  }

  function answered(request: LoopbackRequest, exchange: LoopbackExchange): void {
    const body = (request.body ?? {}) as Body
    const walk = new Walk(body)
    const before: string[] = []
    for (const { block } of walk.blocks(body.messages)) {
      const id = signed(block)
      if (id !== undefined) before.push(id)
    }
    const blocks = answeredBlocks(exchange, request.isStream)
    const response = blocks.flatMap((block) => signed(block) ?? [])
    for (const { block } of walk.blocks([{ role: 'assistant', content: blocks }])) {
      const id = signed(block)
      if (id === undefined) continue
      const issue = { prefix: walk.digest, before: [...before], response }
      issued.set(id, [...(issued.get(id) ?? []), issue])
      before.push(id)
    }
  }

  return { check, answered }
}

/** Goes through a conversation and knows at each block what stood before it. */
class Walk {
  readonly #hash: Hash = createHash('sha256')
  #deferred: readonly WireBlock[]

  constructor({ system, tools }: Body) {
    const all = listOf(tools)
    this.#deferred = all.filter((tool) => tool['defer_loading'] === true)
    const seen = all.filter((tool) => tool['defer_loading'] !== true).map(plainText)
    this.#hash.update(JSON.stringify([contentOf(system).map(plainText), seen.toSorted()]))
  }

  get digest(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Each block while `digest` covers what stands before it. */
  *blocks(messages: unknown): Generator<{ readonly block: WireBlock; readonly path: string }> {
    for (const [at, message] of listOf(messages).entries()) {
      this.#hash.update(JSON.stringify(['message', message['role']]))
      for (const [index, block] of contentOf(message['content']).entries()) {
        yield { block, path: `messages.${at}.content.${index}` }
        if (signed(block) === undefined) this.#add(block)
      }
    }
  }

  #add(block: WireBlock): void {
    // A response may hold blank texts; a request must not.
    const { type, text: words } = block
    if (type === 'text' && typeof words === 'string' && words.trim() === '') return
    const text = plainText(block)
    this.#hash.update(JSON.stringify(text))
    const isNamed = (tool: WireBlock) => text.includes(JSON.stringify(tool['name']))
    for (const tool of this.#deferred.filter(isNamed)) this.#hash.update(plainText(tool))
    this.#deferred = this.#deferred.filter((tool) => !isNamed(tool))
  }
}

const listOf = (value: unknown): readonly WireBlock[] =>
  Array.isArray(value) ? (value as readonly WireBlock[]) : []

const contentOf = (value: unknown): readonly WireBlock[] =>
  typeof value === 'string' ? [{ type: 'text', text: value }] : listOf(value)

/** What the provider signed, if the block is thinking. */
function signed(block: WireBlock): string | undefined {
  if (block['type'] === 'thinking') return `thinking ${JSON.stringify(block['signature'])}`
  return block['type'] === 'redacted_thinking'
    ? `redacted ${JSON.stringify(block['data'])}`
    : undefined
}

/** A block or a tool as the provider compares it: no key order, no cache markers, no empty members, one form of text. */
function plainText(block: WireBlock): string {
  const members = Object.entries(block).filter(
    ([name, value]) => name !== 'cache_control' && value !== null,
  )
  const plain = members.map(([name, value]) => [
    name,
    block['type'] === 'tool_result' && name === 'content' ? contentOf(value).map(plainText) : value,
  ])
  try {
    return JSON.stringify(Object.fromEntries(plain), sorted)
  } catch {
    // Nested too deep to be compared: it counts as itself.
    return JSON.stringify([block['type'], block['id']])
  }
}

const sorted = (_name: string, value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** The oldest thinking may be gone, nothing else. */
const endsWith = (whole: readonly string[], part: readonly string[]): boolean =>
  part.length <= whole.length &&
  part.every((id, at) => id === whole[whole.length - part.length + at])

/** The thinking of the last assistant turn; neighbouring messages count as one. */
function latestThinking(value: unknown): readonly string[] {
  const messages = listOf(value)
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  let first = last
  while (messages[first - 1]?.['role'] === 'assistant') first--
  return messages
    .slice(Math.max(first, 0), last + 1)
    .flatMap(({ content }) => contentOf(content).flatMap((block) => signed(block) ?? []))
}

/** Whether the request asks the provider to drop dead blocks by itself. */
function dropsBlocks({ thinking }: Body, headers: LoopbackRequest['headers']): boolean {
  const binding = (thinking as { block_binding?: { prefix_mismatch_behavior?: unknown } } | null)
    ?.block_binding
  const isAsked = binding?.prefix_mismatch_behavior === 'drop_block'
  return isAsked && JSON.stringify(headers['anthropic-beta'] ?? '').includes(DROP_BETA)
}
