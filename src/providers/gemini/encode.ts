import type { Content, Part } from '@google/genai'
import {
  type EncodeContext,
  type EncodeOptions,
  type Group,
  GroupEncoder,
} from '../../model/encoder.ts'
import { partsText } from '../../model/foreign-text.ts'
import { copyChanged, JoinedEntries } from '../../model/joined-entries.ts'
import { ownData } from '../../model/provider-data.ts'
import type { WireEncoder } from '../../model/wire-adapter.ts'
import { asList, asObject, asWord } from '../../model/wire-value.ts'
import type { ContentPart, HistoryItem, MessageItem } from '../../records/history-item.ts'
import { encodeMedia } from './content.ts'
import { encodeRaw, encodeRunnerCall, encodeServerCall, RequestCalls } from './encode-call.ts'
import { encodeResult } from './encode-result.ts'
import { holdsCall, TURNS } from './turn-order.ts'
import { API, type GeminiPart, keyOf } from './wire.ts'

// Ids of other providers are never sent, so nothing has to be fitted.
const IDS = { refused: /[^\s\S]/g, maxLength: Number.MAX_SAFE_INTEGER }

// A history may not begin with a call, nor end with the model's own words.
const OPENING: Content = { role: 'user', parts: [{ text: '(Earlier messages are left out.)' }] }
const CLOSING: Content = { role: 'user', parts: [{ text: 'Continue.' }] }

/** Starts the encoder of `contents`. */
export function encoder(options: EncodeOptions = {}): WireEncoder<GeminiPart> {
  const calls = new RequestCalls(options)
  const turns = new JoinedEntries<Content>(TURNS)
  const added = reporter(options)
  const groups = new GroupEncoder<Content>({
    ...options,
    api: API,
    ids: IDS,
    encodeGroup: (group, context) => encodeGroup(group, context, calls),
  })
  const system: Part[] = []
  const contents: Content[] = []
  let isBegun = false
  let hasOpening = false
  return {
    push: (...items) => {
      for (const item of items) {
        // Only at the beginning is it the system prompt; later it is told in its place.
        if (!isBegun && item.type === 'message' && item.role === 'system') {
          system.push(...systemParts(item, options))
        } else {
          isBegun = true
          groups.push(item)
        }
      }
    },
    part: () => {
      const changed = turns.update(groups.entries(), groups.final)
      const [first] = turns.list
      const opens = first !== undefined && first.role === 'model' && holdsCall(first)
      const closes = turns.list.at(-1)?.role === 'model'
      if (opens) added('A turn before the first call was added: the wire does not begin with one.')
      if (closes) added('A turn was added at the end: the wire does not end with the model.')
      if (opens) contents[0] = OPENING
      copyChanged(contents, turns.list, opens === hasOpening ? changed : 0, opens ? 1 : 0)
      if (closes) contents.push(CLOSING)
      hasOpening = opens
      return {
        contents,
        ...(system.length > 0 && { systemInstruction: { parts: [...system] } }),
      }
    },
  }
}

function reporter({ onRepair }: EncodeOptions): (message: string) => void {
  const reported = new Set<string>()
  return (message) => {
    if (!reported.has(message)) onRepair?.({ kind: 'added', item: 'message', message })
    reported.add(message)
  }
}

function encodeGroup(
  group: Group,
  context: EncodeContext,
  calls: RequestCalls,
): readonly Content[] {
  calls.begin(group.kind === 'input' ? group.item : group.items)
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

/** An empty text is refused, unless a signature came on it. */
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
