import type { HistoryItem, MessageItem, PromptChange, ToldPrompt } from '../records/history-item.ts'
import type { ModelRequest } from './model.ts'
import type { ToolDefinition } from './tool-definition.ts'

/** A change as its place in a conversation shows it. */
export interface AppendedChange {
  readonly instructions?: string
  /** Tools that the model has not seen before. */
  readonly added: readonly ToolDefinition[]
  /** Names of tools that it has seen, and that were removed in between. */
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  /** True when the request says no tools before its history. */
  readonly isBare: boolean
}

/** Says a change in the words of a protocol; undefined where it has none. */
export type SayChange = (change: AppendedChange) => readonly HistoryItem[] | undefined

/** What stands before changed instructions in the history. */
export const CHANGED = 'From here on, these instructions replace the ones before:'

const changeOf = (item: HistoryItem): PromptChange | undefined =>
  item.type === 'message' ? item.change : undefined

/**
 * The request as a protocol gets it that can append changes of instructions and tools: with those of the first request, and
 * each change in its place. For any other protocol (`say` is undefined), and where the changes do not lead to what the
 * request wants, it has what the request wants, and no changes.
 */
export function withChanges(request: ModelRequest, say: SayChange | undefined): ModelRequest {
  const { items } = request
  if (!items.some((item) => changeOf(item) !== undefined)) return request
  const plain = { ...request, items: items.filter((item) => changeOf(item) === undefined) }
  return (say && appended(request, say)) ?? plain
}

function appended(request: ModelRequest, say: SayChange): ModelRequest | undefined {
  const { items } = request
  const begin = items.findLastIndex((item) => changeOf(item)?.from !== undefined)
  if (begin === -1) return undefined
  let base = changeOf(items[begin] as MessageItem)?.from as ToldPrompt
  let now = base
  let known = byName(base.tools)
  const said = new Map<HistoryItem, readonly HistoryItem[]>()
  for (const item of items.slice(begin)) {
    const change = changeOf(item)
    if (change === undefined) continue
    const next = applied(now, change)
    const words = isEmpty(change) ? [] : wordsOf(change, base, known, say)
    if (words === undefined) {
      // It breaks the prefix, so that everything begins anew.
      base = next
      known = new Map()
      said.clear()
    } else said.set(item, words)
    for (const [name, tool] of byName(next.tools)) known.set(name, tool)
    now = next
  }
  if (!leadsTo(now, request)) return undefined
  return {
    ...request,
    instructions: base.instructions,
    tools: base.tools.map(toolOf),
    items: placed(items, said),
  }
}

/** The history with the words of each change in its place, but never before what a person said: providers refuse that. */
function placed(
  items: readonly HistoryItem[],
  said: ReadonlyMap<HistoryItem, readonly HistoryItem[]>,
): readonly HistoryItem[] {
  const all: HistoryItem[] = []
  const held: HistoryItem[] = []
  for (const item of items) {
    if (changeOf(item) !== undefined) held.push(...(said.get(item) ?? []))
    else if (item.type === 'message' && item.role === 'user') all.push(item)
    else all.push(...held.splice(0), item)
  }
  return [...all, ...held]
}

const isEmpty = ({ instructions, added = [], removed = [] }: PromptChange): boolean =>
  instructions === undefined && added.length + removed.length === 0

/** A tool as a change holds it. */
export const toolText = ({ name, description, inputSchema }: ToolDefinition): string =>
  JSON.stringify({ name, description, inputSchema })

const toolOf = (text: string): ToolDefinition => JSON.parse(text) as ToolDefinition
const nameOf = (text: string): string => toolOf(text).name
const byName = (tools: readonly string[]) => new Map(tools.map((tool) => [nameOf(tool), tool]))

/** Instructions and tools after a change. */
function applied(told: ToldPrompt, change: PromptChange): ToldPrompt {
  const { instructions = told.instructions, added = [], removed = [] } = change
  const isKept = (tool: string) => removed.length === 0 || !removed.includes(nameOf(tool))
  return { instructions, tools: [...told.tools.filter(isKept), ...added] }
}

function wordsOf(
  { instructions, added = [], removed = [] }: PromptChange,
  told: ToldPrompt,
  known: ReadonlyMap<string, string>,
  say: SayChange,
): readonly HistoryItem[] | undefined {
  // No protocol says how to take instructions back, or what a second tool of one name means.
  if (instructions === '') return undefined
  const isKnown = (tool: string) => known.has(nameOf(tool))
  if (added.some((tool) => isKnown(tool) && known.get(nameOf(tool)) !== tool)) return undefined
  return say({
    ...(instructions !== undefined && { instructions }),
    added: added.filter((tool) => !isKnown(tool)).map(toolOf),
    restored: added.filter(isKnown).map(nameOf),
    removed,
    isBare: told.tools.length === 0,
  })
}

function leadsTo({ instructions, tools }: ToldPrompt, wanted: ModelRequest): boolean {
  const { tools: offered = [], toolChoice } = wanted
  if (instructions !== (wanted.instructions ?? '') || typeof toolChoice === 'object') return false
  const told = new Set(tools)
  return offered.length === told.size && offered.every((tool) => told.has(toolText(tool)))
}

/** The change that leads from one state to another; undefined if both are equal. */
export function changeBetween(before: ToldPrompt, after: ToldPrompt): PromptChange | undefined {
  const [old, current] = [new Set(before.tools), new Set(after.tools)]
  const removed = before.tools.filter((tool) => !current.has(tool)).map(nameOf)
  const added = after.tools.filter((tool) => !old.has(tool))
  const isTold = before.instructions === after.instructions
  if (isTold && removed.length + added.length === 0) return undefined
  return {
    ...(!isTold && { instructions: after.instructions }),
    ...(added.length > 0 && { added }),
    ...(removed.length > 0 && { removed }),
  }
}

/** What the changes in a history lead to; undefined if none of them counts. */
export function toldIn(items: readonly HistoryItem[]): ToldPrompt | undefined {
  const begin = items.findLastIndex((item) => changeOf(item)?.from !== undefined)
  if (begin === -1) return undefined
  return items.slice(begin).reduce<ToldPrompt | undefined>((told, item) => {
    const change = changeOf(item)
    const before = change?.from ?? told
    return change && before ? applied(before, change) : told
  }, undefined)
}
