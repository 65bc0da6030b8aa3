import type { Content, Part } from '@google/genai'
import {
  type EncodeContext,
  type EncodeOptions,
  encodeGroups,
  type Group,
} from '../../../model/wire/encode-groups.ts'
import { partsText } from '../../../model/wire/foreign-text.ts'
import { type JoinRule, joinNeighbours } from '../../../model/wire/join-neighbours.ts'
import { ownData } from '../../../model/wire/provider-data.ts'
import { asList, asObject, asWord } from '../../../model/wire/wire-value.ts'
import type { ContentPart, HistoryItem, MessageItem } from '../../../records/history-item.ts'
import { encodeMedia } from '../wire/content.ts'
import { API, type GeminiPart, keyOf, VERTEX } from '../wire/wire.ts'
import { encodeRaw, encodeRunnerCall, encodeServerCall, RequestCalls } from './encode-call.ts'
import { encodeResult } from './encode-result.ts'

/**
 * The wire wants a turn with calls directly after a turn of the user or after results, so model turns
 * right before it are merged into it.
 */
const TURNS: JoinRule<Content> = {
  joins: (later, earlier) => earlier.role === 'model' && holdsCall(later),
  merge: (turns) => ({ role: 'model', parts: turns.flatMap(({ parts = [] }) => parts) }),
}

// Ids of other providers are never sent, so nothing has to be fitted.
const IDS = { refused: /[^\s\S]/g, maxLength: Number.MAX_SAFE_INTEGER }

// True whatever the reason is: nothing was said, or a budget took it out.
const NO_MESSAGE: Content = { role: 'user', parts: [{ text: '(No message.)' }] }

/** The conversation as `contents` and a system instruction. */
export function encodeHistory(
  items: readonly HistoryItem[],
  options: EncodeOptions = {},
): GeminiPart {
  const calls = new RequestCalls(options)
  // Only at the beginning are they the system prompt; later ones stay in their place.
  const begin = items.findIndex((item) => !isSystem(item))
  const opening = begin === -1 ? items : items.slice(0, begin)
  const system = opening.filter(isSystem).flatMap((item) => systemParts(item, options))
  const entries = encodeGroups<Content>(items.slice(opening.length), {
    ...options,
    api: API,
    ids: IDS,
    encodeGroup: (group, context) => encodeGroup(group, context, calls),
  })
  const turns = joinNeighbours(entries, TURNS)
  return {
    contents: withOpening(turns, options),
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
  }
}

const isSystem = (item: HistoryItem): item is MessageItem =>
  item.type === 'message' && item.role === 'system'

/** Adds a turn where the wire refuses the first one, or none at all. */
function withOpening(turns: readonly Content[], { onRepair }: EncodeOptions): Content[] {
  const [first] = turns
  if (first !== undefined && (first.role !== 'model' || !holdsCall(first))) return [...turns]
  const why = first === undefined ? 'is never empty' : 'does not begin with a call'
  const message = `A turn was added at the beginning: the wire ${why}.`
  onRepair?.({ kind: 'added', item: 'message', message })
  return [NO_MESSAGE, ...turns]
}

function encodeGroup(
  group: Group,
  context: EncodeContext,
  calls: RequestCalls,
): readonly Content[] {
  if (group.kind === 'input') return turn('user', encodeInput(group.item, context, calls))
  const said: Part[] = []
  const answers: Part[] = []
  const beside: Part[] = []
  const served = { hasCode: false, hasTool: false }
  for (const item of group.items) {
    if (item.type === 'call' && item.executedBy === 'runner') {
      if (!(item.resultOnly && context.continues)) {
        said.push(encodeRunnerCall(item, context, calls, answers.length === 0))
      }
      const result = encodeResult(item, context, calls)
      answers.push(result.answer)
      beside.push(...result.beside)
    } else if (item.type === 'call' || item.type === 'openCall') {
      said.push(...encodeServerCall(item, context, calls, served))
    } else if (item.type === 'raw') {
      said.push(...encodeRaw(item, context, calls, served))
    } else {
      said.push(...encodeSaid(item, context))
    }
  }
  // Answers stand alone in their turn; media that they cannot hold follow in the next.
  return [...turn('model', said), ...turn('user', answers), ...turn('user', beside)]
}

function turn(role: 'model' | 'user', parts: readonly Part[]): readonly Content[] {
  return parts.length > 0 ? [{ role, parts: [...parts] }] : []
}

function encodeInput(
  item: HistoryItem,
  context: EncodeContext,
  calls: RequestCalls,
): readonly Part[] {
  if (item.type === 'raw') return encodeRaw(item, context, calls)
  if (item.type !== 'message') return []
  const parts = item.parts.flatMap((part) => encodePart(part, context))
  // Vertex AI refuses an empty text; the Developer API takes one.
  const isTaken = calls.options.endpoint !== VERTEX && item.parts.length > 0
  if (parts.length === 0 && isTaken) return [{ text: '' }]
  if (parts.length === 0) {
    context.leftOut('message', `A message of the ${item.role} says nothing and was left out.`)
  }
  return parts
}

/** What the model said or thought; signatures go back on the parts that they came on. */
function encodeSaid(
  item: Extract<HistoryItem, { type: 'message' | 'thought' }>,
  context: EncodeContext,
): readonly Part[] {
  const own = asObject(context.own(item.providerData))
  if (item.type === 'thought') {
    const part = asObject(own?.['part'])
    if (part !== undefined) return isSaid(part) ? [part] : []
    context.leftOut('thought', 'Reasoning that this provider did not make was left out.')
    return []
  }
  const parts = asList(own?.['parts'])
  if (parts.length > 0) return (parts as readonly Part[]).filter(isSaid)
  return item.parts.flatMap((part) => {
    // Only media that the model itself made are its words; others are named.
    const isOwn = part.type === 'text' || context.own(part.providerData) !== undefined
    return isOwn ? encodePart(part, context) : [{ text: partsText([part]) }]
  })
}

function encodePart(part: ContentPart, context: EncodeContext): readonly Part[] {
  const own = asObject(context.own(part.providerData))
  if (part.type === 'text') {
    return [{ text: part.text, ...own }].filter(isSaid)
  }
  const encoded = encodeMedia(part, own !== undefined)
  if (encoded !== undefined) return [{ ...encoded, ...own }]
  context.leftOut('media', `\`${API}\` cannot take this media; it is named in its place.`)
  return [{ text: partsText([part]) }]
}

/** An empty text says nothing, unless a signature came on it. */
function isSaid({ text, thoughtSignature }: Part): boolean {
  return text !== '' || asWord(thoughtSignature) !== undefined
}

function systemParts(item: MessageItem, options: EncodeOptions): readonly Part[] {
  return item.parts.flatMap((part) => {
    if (part.type !== 'text') return [{ text: partsText([part]) }]
    const own = asObject(ownData(part.providerData, keyOf(options)))
    return part.text === '' ? [] : [{ text: part.text, ...own }]
  })
}

/** True for a turn that asks the runner for something. */
function holdsCall({ parts = [] }: Content): boolean {
  return parts.some((part) => part.functionCall !== undefined)
}
