import { asObject } from '../../model/wire/wire-value.ts'

/** How many user messages get one. The provider's own breakpoint, after the newest message, takes one of the four of a request. */
const MARKED = 2
const BREAKPOINT = { mode: 'explicit' }

/** Whether a model takes breakpoints, by its name: GPT-5.6 and later do. */
export function takesBreakpoints(model: string): boolean {
  const [, major, minor = '0'] = /^gpt-(\d+)(?:\.(\d+))?/.exec(model) ?? []
  return major !== undefined && Number(major) * 100 + Number(minor) >= 506
}

/**
 * The list with breakpoints after the last two messages of the user. The provider looks for a cached beginning only at
 * breakpoints, and its own moves along with every request: these stay where a turn began, for a request that goes back to there.
 * All texts of the user become blocks, so that the list is the same when the breakpoints have moved on.
 */
export function withBreakpoints<Item>(list: readonly Item[], textType: string): Item[] {
  const blocks = list.map((item) => userBlocks(item, textType))
  const marked = new Set(blocks.flatMap((each, at) => (each.length > 0 ? [at] : [])).slice(-MARKED))
  return list.map((item, at) => {
    const own = blocks[at] ?? []
    if (own.length === 0) return item
    const end = marked.has(at) ? own.length - 1 : -1
    const content = own.map((block, place) =>
      place === end ? { ...block, prompt_cache_breakpoint: BREAKPOINT } : block,
    )
    return { ...item, content }
  })
}

/** The content of a message of the user; empty for any other item, and for one that has breakpoints already. */
function userBlocks(item: unknown, textType: string): readonly object[] {
  const { role, content } = (asObject(item) ?? {}) as { role?: unknown; content?: unknown }
  if (role !== 'user') return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: textType, text: content }]
  if (!Array.isArray(content) || JSON.stringify(content).includes('"prompt_cache_breakpoint"'))
    return []
  return content as readonly object[]
}
