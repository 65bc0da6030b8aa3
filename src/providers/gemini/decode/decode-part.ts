import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { HistoryBuilder } from '../../../model/wire/history-builder.ts'
import { type ProviderKey, providerData } from '../../../model/wire/provider-data.ts'
import {
  asList,
  asObject,
  asText,
  asWord,
  jsonText,
  without,
} from '../../../model/wire/wire-value.ts'
import type { ContentPart } from '../../../records/history-item.ts'
import { decodePart } from '../wire/content.ts'
import { kindOf, type PartKind, type WirePart } from '../wire/wire.ts'

export interface Reading {
  readonly builder: HistoryBuilder
  readonly key: ProviderKey
}

type Side = 'model' | 'user'
type PartReader = (part: WirePart, held: JsonObject, reading: Reading) => void

/** Reads the parts of one content. Neighbouring texts of the model are one message. */
export function readParts(parts: readonly JsonValue[], side: Side, reading: Reading): void {
  let run: WirePart[] = []
  /** Whether nothing but code, its output and its pictures stands right before. */
  let isAfterCode = false
  const flush = () => {
    if (run.length > 0) readMessage(run, side, reading)
    run = []
  }
  for (const value of parts) {
    const part: WirePart = typeof value === 'string' ? { text: value } : (asObject(value) ?? {})
    const kind = kindOf(part)
    if (kind === 'text' && side === 'model' && isThought(part)) {
      flush()
      reading.builder.thought(asText(part.text) ?? '', { part: part as JsonObject })
      isAfterCode = false
    } else if (asObject(part.inlineData) !== undefined && kind === 'inlineData' && isAfterCode) {
      readPicture(part, reading)
    } else if (kind === 'text' || kind === 'inlineData' || kind === 'fileData') {
      if (part.text !== '' || Object.keys(part).length > 1 || isAlone(parts, side)) run.push(part)
      isAfterCode = false
    } else {
      flush()
      readOther(value, part, kind, side, reading)
      isAfterCode = kind === 'executableCode' || kind === 'codeExecutionResult'
    }
  }
  flush()
}

/** A message of a person that says nothing is still a message. */
function isAlone(parts: readonly JsonValue[], side: Side): boolean {
  return side === 'user' && parts.length === 1
}

/** Reasoning, or the signature of some that came on a part of its own, without any text. */
function isThought(part: WirePart): boolean {
  return part.thought === true || (part.text === '' && asWord(part.thoughtSignature) !== undefined)
}

function readMessage(run: readonly WirePart[], side: Side, { builder, key }: Reading): void {
  const parts = run.flatMap((part) => decodePart(part, key) ?? [])
  if (side === 'user') return builder.message('user', parts)
  const joined: ContentPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.type === 'text' && last?.type === 'text') {
      joined[joined.length - 1] = { type: 'text', text: last.text + part.text }
    } else joined.push(part.type === 'text' ? { type: 'text', text: part.text } : part)
  }
  // Joining would move a signature to another text, so the parts are kept as they came.
  const isPlain = run.every((part) => part.text === undefined || Object.keys(part).length === 1)
  const isAsDecoded = isPlain && joined.length === run.length
  builder.message('assistant', joined, isAsDecoded ? undefined : { parts: run as JsonObject[] })
}

function readOther(
  value: JsonValue,
  part: WirePart,
  kind: PartKind | undefined,
  side: Side,
  reading: Reading,
): void {
  const held = kind === undefined ? undefined : asObject(part[kind])
  const reader = kind === undefined ? undefined : READERS[kind]
  if (held !== undefined && reader !== undefined) reader(part, held, reading)
  else reading.builder.raw(value, side === 'model' ? 'assistant' : 'user')
}

const CALL_MEMBERS = ['id', 'name', 'args', 'partialArgs', 'willContinue']

const functionCall: PartReader = (part, call, { builder }) => {
  const name = asText(call['name']) ?? ''
  const extras = without(call, ...CALL_MEMBERS)
  builder.call({
    type: 'functionCall',
    tool: name,
    args: call['args'],
    executedBy: 'runner',
    callId: asText(call['id']),
    pairKeys: [`name:${name}`, 'type:functionCall'],
    // Always there: it tells that the call stood on this wire as it is, signed or not.
    data: {
      part: without(part, 'functionCall'),
      ...(Object.keys(extras).length > 0 && { call: extras }),
    },
  })
}

const functionResponse: PartReader = (part, response, { builder, key }) => {
  const name = asWord(response['name'])
  const { isError, parts } = outcomeOf(response['response'])
  // Only an object may go back; anything else is kept as the output that it stands for.
  const isStruct = asObject(response['response']) !== undefined
  const extras = without(response, 'id', 'name', 'parts', ...(isStruct ? [] : ['response']))
  builder.result({
    type: 'functionResponse',
    tool: name ?? 'unknown_tool',
    executedBy: 'runner',
    callId: asText(response['id']),
    pairKeys: [...(name === undefined ? [] : [`name:${name}`]), 'type:functionCall'],
    isError,
    parts: [...parts, ...asList(response['parts']).flatMap((inner) => insidePart(inner, key))],
    data: { response: extras, part: without(part, 'functionResponse') },
  })
}

/** A part inside of a response: media, or a text that this wire gets back as the part it was. */
function insidePart(value: JsonValue, key: ProviderKey): ContentPart[] {
  const part = asObject(value)
  if (part === undefined) return []
  const decoded = decodePart(part, key)
  if (decoded?.type === 'media') return [decoded]
  const text = decoded?.text ?? jsonText(part)
  return [{ type: 'text', text, providerData: providerData(key, { inside: part }) }]
}

/** By convention `output` holds the output and `error` the error; without either all of it is output. */
function outcomeOf(value: JsonValue | undefined): { isError: boolean; parts: ContentPart[] } {
  const response = asObject(value)
  if (response === undefined) return { isError: false, parts: jsonPart(value) }
  const error = response['error'] || undefined
  const output = response['output']
  if (error === undefined && output === undefined) {
    const isEmpty = Object.keys(response).length === 0
    return { isError: false, parts: isEmpty ? [] : jsonPart(response) }
  }
  return { isError: error !== undefined, parts: [...jsonPart(output), ...jsonPart(error)] }
}

/** JSON as text, for results that are structures. */
function jsonPart(value: JsonValue | undefined): ContentPart[] {
  if (value === undefined || value === null) return []
  return [{ type: 'text', text: typeof value === 'string' ? value : jsonText(value) }]
}

const executableCode: PartReader = (part, code, { builder }) =>
  builder.call({
    type: 'executableCode',
    tool: 'code_execution',
    args: { language: code['language'] ?? null, code: code['code'] ?? null },
    executedBy: 'provider',
    callId: asText(code['id']),
    pairKeys: ['type:executableCode'],
    raw: part,
  })

const FAILED = new Set<unknown>(['OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED'])

const codeExecutionResult: PartReader = (part, result, { builder }) =>
  builder.result({
    type: 'codeExecutionResult',
    tool: 'code_execution',
    executedBy: 'provider',
    callId: asText(result['id']),
    pairKeys: ['type:executableCode'],
    isError: FAILED.has(result['outcome']),
    parts: jsonPart(result['output']),
    raw: part,
    // One piece of code may print its results in several parts.
    mayExtend: true,
  })

/** What code drew comes as media right after the code or its output: it is a result of the code. */
function readPicture(part: WirePart, { builder, key }: Reading): void {
  const last = builder.items.at(-1)
  const code = last !== undefined && 'wire' in last ? last.wire.callId : undefined
  const { providerData: _, ...plain } = decodePart(part, key) as ContentPart
  builder.result({
    type: 'codeExecutionResult',
    tool: 'code_execution',
    executedBy: 'provider',
    callId: code,
    pairKeys: ['type:executableCode'],
    isError: false,
    parts: [plain],
    raw: part,
    mayExtend: true,
  })
}

const toolCall: PartReader = (part, call, { builder }) => {
  const toolType = asWord(call['toolType']) ?? 'server_tool'
  builder.call({
    type: 'toolCall',
    tool: toolType,
    args: call['args'],
    executedBy: 'provider',
    callId: asText(call['id']),
    pairKeys: [`tool:${toolType}`],
    raw: part,
  })
}

const toolResponse: PartReader = (part, response, { builder }) => {
  const toolType = asWord(response['toolType']) ?? 'server_tool'
  builder.result({
    type: 'toolResponse',
    tool: toolType,
    executedBy: 'provider',
    callId: asText(response['id']),
    pairKeys: [`tool:${toolType}`],
    isError: false,
    parts: jsonPart(response['response']),
    raw: part,
  })
}

const READERS: Readonly<Partial<Record<PartKind, PartReader>>> = {
  functionCall,
  functionResponse,
  executableCode,
  codeExecutionResult,
  toolCall,
  toolResponse,
}
