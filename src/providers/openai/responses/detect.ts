import { asObject } from '../../../model/wire/wire-value.ts'

const ITEMS = /_call(_output)?$|^(reasoning|item_reference|mcp_|tool_search_output|compaction)/

/** The items of a request, a response or a list; one item alone counts as well. */
export function itemsIn(payload: unknown) {
  const whole = asObject(payload)
  const list = whole?.['input'] ?? whole?.['output'] ?? payload
  return (Array.isArray(list) ? list : [list]).map(asObject).filter((item) => item !== undefined)
}

/** True for requests with `input`, responses with `output`, and items with types of this API. */
export function detect(payload: unknown): boolean {
  const whole = asObject(payload)
  if (whole?.['messages'] !== undefined || whole?.['contents'] !== undefined) return false
  if (whole?.['input'] !== undefined) return true
  return Array.isArray(whole?.['output']) || itemsIn(payload).some(isItem)
}

function isItem({ type, role }: { readonly type?: unknown; readonly role?: unknown }): boolean {
  if (typeof type !== 'string') return false
  return ITEMS.test(type) || (type === 'message' && role !== undefined)
}
