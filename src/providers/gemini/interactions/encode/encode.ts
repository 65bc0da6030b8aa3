import type { Interactions } from '@google/genai'
import {
  type EncodeContext,
  type EncodeOptions,
  encodeGroups,
  type Group,
} from '../../../../model/wire/encode-groups.ts'
import { partsText } from '../../../../model/wire/foreign-text.ts'
import { asList, asObject, asWord } from '../../../../model/wire/wire-value.ts'
import type { ContentPart, HistoryItem, MessageItem } from '../../../../records/history-item.ts'
import { encodePart } from '../wire/content.ts'
import { API, type InteractionsPart, isInput } from '../wire/wire.ts'
import {
  encodeRaw,
  encodeResult,
  encodeRunnerCall,
  encodeServerCall,
  ServedCalls,
  said,
  signatureFor,
} from './encode-call.ts'

const IDS = { refused: /[^a-zA-Z0-9_-]/g, maxLength: 64 }

// A history may not begin with a call, nor end with the model's own words.
const OPENING = '(Earlier messages are left out.)'
const CLOSING = 'Continue.'

const asked = (text: string): Interactions.Step => ({
  type: 'user_input',
  content: [{ type: 'text', text }],
})

/** The conversation as `input` and a system instruction. */
export function encodeHistory(
  items: readonly HistoryItem[],
  options: EncodeOptions = {},
): InteractionsPart {
  const served = new ServedCalls(options)
  // Only at the beginning are they the system prompt; later ones stay in their place.
  const begin = items.findIndex((item) => !isSystem(item))
  const opening = begin === -1 ? items : items.slice(0, begin)
  const system = opening
    .filter(isSystem)
    .map(({ parts }) => partsText(parts))
    .filter(Boolean)
  const input = encodeGroups<Interactions.Step>(items.slice(opening.length), {
    ...options,
    api: API,
    ids: IDS,
    encodeGroup: (group, context) => encodeGroup(group, context, options, served),
  })
  return {
    ...(system.length > 0 && { system_instruction: system.join('\n\n') }),
    input: withEnds(input, options),
  }
}

const isSystem = (item: HistoryItem): item is MessageItem =>
  item.type === 'message' && item.role === 'system'

/** Adds input where the wire refuses the first or the last step. */
function withEnds(
  steps: readonly Interactions.Step[],
  { continues, onRepair }: EncodeOptions,
): Interactions.Step[] {
  const first = steps.findIndex(({ type }) => isInput(type))
  const before = first === -1 ? steps : steps.slice(0, first)
  const opens = continues !== true && before.some(({ type }) => type === 'function_call')
  const last = steps.at(-1)
  const closes = last !== undefined && !isInput(last.type)
  const added = (message: string) => onRepair?.({ kind: 'added', item: 'message', message })
  if (opens) added('Input before the first call was added: the wire does not begin with one.')
  if (closes) added('Input was added at the end: the wire does not end with the model.')
  return [...(opens ? [asked(OPENING)] : []), ...steps, ...(closes ? [asked(CLOSING)] : [])]
}

function encodeGroup(
  group: Group,
  context: EncodeContext,
  options: EncodeOptions,
  served: ServedCalls,
): readonly Interactions.Step[] {
  if (group.kind === 'input') return encodeInput(group.item, context, served)
  const steps: Interactions.Step[] = []
  const answers: Interactions.Step[] = []
  for (const item of group.items) {
    if (item.type === 'call' && item.executedBy === 'runner') {
      if (!(item.resultOnly && context.continues)) {
        const isCovered = answers.length > 0 || steps.some(isSigned)
        if (!isCovered) steps.push(...signatureFor(item, context, options))
        steps.push(encodeRunnerCall(item, context))
      }
      answers.push(encodeResult(item, context))
    } else if (item.type === 'call' || item.type === 'openCall') {
      steps.push(...encodeServerCall(item, context, served))
    } else if (item.type === 'raw') {
      steps.push(...encodeRaw(item, context, served))
    } else {
      steps.push(...encodeSaid(item, context))
    }
  }
  return [...steps, ...answers]
}

const isSigned = (step: Interactions.Step) => asWord(Reflect.get(step, 'signature')) !== undefined

function encodeInput(
  item: HistoryItem,
  context: EncodeContext,
  served: ServedCalls,
): readonly Interactions.Step[] {
  if (item.type === 'raw') return encodeRaw(item, context, served)
  if (item.type !== 'message') return []
  const own = ownStep(item, context)
  if (own !== undefined) return [own]
  const content = item.parts.flatMap((part) => encodeBlock(part, context))
  if (content.length > 0) return [{ type: 'user_input', content }]
  context.leftOut('message', `A message of the ${item.role} says nothing and was left out.`)
  return []
}

/** What the model said or thought. A thought goes back only with its signature: without one it is refused. */
function encodeSaid(
  item: Extract<HistoryItem, { type: 'message' | 'thought' }>,
  context: EncodeContext,
): readonly Interactions.Step[] {
  const own = ownStep(item, context)
  if (own !== undefined) return [own]
  if (item.type === 'thought') {
    context.leftOut('thought', 'Reasoning that this provider did not sign was left out.')
    return []
  }
  // Only media that the model itself made are its words; others are named.
  return said(partsText(item.parts))
}

/** The step that an item came in, if it may be sent again. */
function ownStep(
  item: Extract<HistoryItem, { type: 'message' | 'thought' }>,
  context: EncodeContext,
): Interactions.Step | undefined {
  const step = asObject(asObject(context.own(item.providerData))?.['step'])
  if (step === undefined) return undefined
  const isSendable =
    item.type === 'thought'
      ? asWord(step['signature']) !== undefined
      : saysSomething(step['content'])
  return isSendable ? (step as unknown as Interactions.Step) : undefined
}

function saysSomething(content: unknown): boolean {
  if (typeof content === 'string') return content !== ''
  return (
    asList(content).length > 0 && asList(content).every((block) => asObject(block)?.['text'] !== '')
  )
}

function encodeBlock(part: ContentPart, context: EncodeContext): readonly Interactions.Content[] {
  const encoded = encodePart(part)
  if (encoded !== undefined) return [encoded]
  if (part.type === 'text') return []
  context.leftOut('media', `\`${API}\` cannot take this media; it is named in its place.`)
  return [{ type: 'text', text: partsText([part]) }]
}
