import { isObject } from '../../core/error/wrong-input.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { Message } from '../../records/message.ts'
import { Thought } from '../../records/thought.ts'
import { ToolCall } from '../../records/tool-call.ts'
import { spoolNotFound } from '../../spool/spool-errors.ts'
import type { EntryKind } from '../entry.ts'

type Data = Readonly<Record<string, JsonValue>>

/** Restoring a record reads no bytes. */
const NO_BYTES = {
  spool: { read: (digest: string) => Promise.reject(spoolNotFound(digest)) },
}

/**
 * Throws if a runner could not read this data back. An entry that is stored stays for good, and one that cannot be read ends
 * every later turn of its conversation.
 */
export function assertReadable(kind: EntryKind, data: Data): void {
  const check = CHECKS[kind]
  check?.(data)
}

const CHECKS: Readonly<Partial<Record<EntryKind, (data: Data) => void>>> = {
  message: (data) => void Message.fromJSON(data, NO_BYTES),
  thought: (data) => void Thought.fromJSON(data),
  settlement: (data) => void ToolCall.fromJSON(data, NO_BYTES),
  intent: (data) => {
    const { tool, args, createdAt, effect, editOf } = data
    requireText('tool', tool)
    require('args', isObject(args) && !Array.isArray(args), 'must be an object')
    require('createdAt', isDate(createdAt), 'must be a date')
    requireOneOf('effect', effect, [undefined, 'read', 'idempotent', 'write'])
    if (editOf !== undefined) requireText('editOf', editOf)
    requireText('checksum', data['checksum'])
  },
  'gate-opened': (data) => {
    const { tool, toolCallId, args, digest, expiresAt } = data
    requireOneOf('kind', data['kind'], ['approval', 'link'])
    requireOneOf('from', data['from'], ['runner', 'provider'])
    requireOneOf('because', data['because'], [undefined, 'tool', 'trust', 'effect'])
    requireText('digest', digest)
    if (tool !== undefined) requireText('tool', tool)
    if (toolCallId !== undefined) requireText('callId', toolCallId)
    require('args', args === undefined || isObject(args), 'must be an object')
    require('expiresAt', expiresAt === undefined || isTime(expiresAt), 'must be a time')
  },
  'gate-closed': ({ outcome }) =>
    requireOneOf('outcome', outcome, ['consumed', 'expired', 'abandoned']),
  'turn-end': ({ status, reason, usage }) => {
    requireOneOf('status', status, ['completed', 'stopped', 'suspended', 'aborted', 'failed'])
    require('reason', reason === undefined || isObject(reason), 'must be an object')
    require('usage', usage === undefined || isObject(usage), 'must be an object')
  },
  'turn-start': ({ parent }) => {
    require('parent', parent === undefined || isObject(parent), 'must be an object')
    if (!isObject(parent)) return
    const { conversation, turnId } = parent as Data
    requireText('parent.conversation', conversation)
    requireText('parent.turnId', turnId)
  },
  note: ({ level, code, message }) => {
    requireOneOf('level', level, ['info', 'warning', 'error'])
    requireText('code', code)
    require('message', typeof message === 'string', 'must be a string')
  },
}

/** Whether a number is a time that a date can have. */
export const isTime = (value: unknown): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 8.64e15

const isDate = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))

function require(name: string, holds: boolean, rule: string): void {
  if (!holds) throw new Error(`\`${name}\` ${rule}`)
}

const requireText = (name: string, value: unknown): void =>
  require(name, typeof value === 'string' && value !== '', 'must be a non-empty string')

const requireOneOf = (name: string, value: unknown, known: readonly unknown[]): void =>
  require(name, known.includes(value), `must be one of ${known.filter(Boolean).join(', ')}`)
