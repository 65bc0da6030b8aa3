import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import type { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import { asList, asObject, asText, without } from '../../../../model/wire/wire-value.ts'
import type { ContentPart } from '../../../../records/history-item.ts'
import { decodeContent } from '../wire/content.ts'
import { reasoningOf } from '../wire/reasoning.ts'
import {
  askedOf,
  type ChatCall,
  type ChatFunction,
  type ChatMessage,
  isEmptyCall,
  isNewKind,
} from '../wire/wire.ts'

/** Adds one message to the history. */
export type MessageReader = (message: ChatMessage, builder: HistoryBuilder, api: string) => void

const input =
  (role: 'user' | 'system'): MessageReader =>
  (message, builder, api) => {
    builder.endResponse()
    builder.message(role, decodeContent(message.content, api), { message: message as JsonObject })
  }

const assistant: MessageReader = (message, builder, api) => {
  builder.startResponse()
  readAssistant(message, builder, api)
}

const toolResult: MessageReader = (message, builder, api) => {
  builder.endResponse()
  const name = asText(message.name)
  builder.result({
    type: 'tool',
    tool: name ?? 'unknown_tool',
    executedBy: 'runner',
    callId: asText(message.tool_call_id),
    pairKeys: [...(name === undefined ? [] : [`name:${name}`]), 'type:tool_call'],
    isError: false, // this wire has no such flag
    parts: decodeContent(message.content, api),
    data: { message: message as JsonObject },
  })
}

const functionResult: MessageReader = (message, builder, api) => {
  builder.endResponse()
  const name = asText(message.name) ?? 'unknown_tool'
  builder.result({
    type: 'function',
    tool: name,
    executedBy: 'runner',
    pairKeys: [`function:${name}`],
    isError: false,
    parts: decodeContent(message.content, api),
    data: { message: message as JsonObject },
  })
}

/** The roles that this protocol has, and how a message of each is read. Others survive as raw data. */
export const MESSAGE_READERS: Readonly<Record<string, MessageReader>> = {
  system: input('system'),
  developer: input('system'),
  user: input('user'),
  assistant,
  tool: toolResult,
  function: functionResult,
}

/** Reads what the model said in the order in which it came about: reasoning, content, calls. */
export function readAssistant(message: ChatMessage, builder: HistoryBuilder, api: string): void {
  const reasoning = reasoningOf(message)
  if (reasoning !== undefined) builder.thought(reasoning.text, { members: reasoning.members })
  const parts = [...decodeContent(message.content, api), ...spoken(message)]
  // What became items of its own must not be sent a second time. A reasoning member that is there but
  // empty stays: some servers insist on its presence.
  const apart = Object.keys(reasoning?.members ?? {})
  const rest = present(without(message, 'tool_calls', 'function_call', ...apart))
  if (parts.length > 0) builder.message('assistant', parts, { message: rest })
  const { role: _, content, ...others } = rest
  // Content that cannot be read has no other place either.
  const extras = asList(content).length > 0 ? { content: content ?? null, ...others } : others
  const bare = parts.length === 0 && Object.keys(extras).length > 0 ? { message: extras } : {}
  const calls = asList(message.tool_calls)
  calls.forEach((call, index) => {
    readCall(asObject(call) ?? {}, builder, index === 0 ? bare : {})
  })
  if (parts.length === 0 && calls.length === 0 && asList(content).length > 0) {
    builder.raw({ role: 'assistant', ...rest }, 'assistant')
  }
  const legacy: ChatFunction | undefined = asObject(message.function_call)
  if (legacy !== undefined && !isEmptyCall(legacy)) readFunctionCall(legacy, builder)
}

/** A refusal or a transcript stands where content would. */
function spoken(message: ChatMessage): readonly ContentPart[] {
  const texts = [asText(message.refusal), asText(asObject(message['audio'])?.['transcript'])]
  return texts.flatMap((text) => (text ? [{ type: 'text', text }] : []))
}

const CALL_MEMBERS = ['index', 'id', 'type', 'function', 'custom']

/** Reads one call. `extras` is what must go back with the message and has no other place. */
export function readCall(call: ChatCall, builder: HistoryBuilder, extras: JsonObject = {}): void {
  if (isNewKind(call)) return readNewCall(call, builder, extras)
  const { kind, asked } = askedOf(call)
  const tool = asText(asked.name) ?? ''
  const others = without(call, ...CALL_MEMBERS)
  const text = kind === 'custom' ? undefined : asText(asked.arguments)
  const data: Record<string, JsonValue> = { ...extras }
  if (Object.keys(others).length > 0) data['call'] = others
  if (text !== undefined) data['arguments'] = text
  builder.call({
    type: kind,
    tool,
    args: kind === 'custom' ? { input: asText(asked.input) ?? '' } : asked.arguments,
    executedBy: 'runner',
    callId: asText(call.id),
    pairKeys: [`name:${tool}`, 'type:tool_call'],
    ...(Object.keys(data).length > 0 && { data }),
  })
}

/** A call of a kind that we do not know: no tool of ours has its name, and it goes back as it came. */
function readNewCall(call: ChatCall, builder: HistoryBuilder, extras: JsonObject): void {
  const type = asText(call.type) ?? ''
  builder.call({
    type,
    tool: type,
    args: {},
    executedBy: 'runner',
    callId: asText(call.id),
    pairKeys: ['type:tool_call'],
    data: { ...extras, whole: without(call, 'index') },
  })
}

function readFunctionCall(call: ChatFunction, builder: HistoryBuilder): void {
  const tool = asText(call.name) ?? ''
  const text = asText(call.arguments)
  builder.call({
    type: 'function_call',
    tool,
    args: call.arguments,
    executedBy: 'runner',
    pairKeys: [`function:${tool}`],
    ...(text !== undefined && { data: { arguments: text } }),
  })
}

function present(message: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(message).filter(([name, value]) => name === 'content' || value !== null),
  )
}
