import { isObject } from '../../core/error/wrong-input.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { TRUST_TIERS } from '../../core/trust.ts'
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
    mustBeText('tool', tool)
    must('args', isObject(args) && !Array.isArray(args), 'must be an object')
    must('createdAt', isDate(createdAt), 'must be a date')
    mustBeOneOf('effect', effect, [undefined, 'read', 'idempotent', 'write'])
    if (editOf !== undefined) mustBeText('editOf', editOf)
    mustBeText('checksum', data['checksum'])
  },
  'gate-opened': (data) => {
    const { tool, toolCallId, args, digest, expiresAt } = data
    mustBeOneOf('kind', data['kind'], ['approval', 'input', 'link', 'result'])
    mustBeOneOf('from', data['from'], ['runner', 'provider'])
    mustBeOneOf('because', data['because'], [undefined, 'tool', 'trust', 'effect'])
    mustBeText('digest', digest)
    if (tool !== undefined) mustBeText('tool', tool)
    if (toolCallId !== undefined) mustBeText('callId', toolCallId)
    must('args', args === undefined || isObject(args), 'must be an object')
    must('expiresAt', expiresAt === undefined || isTime(expiresAt), 'must be a time')
  },
  'gate-closed': ({ outcome }) =>
    mustBeOneOf('outcome', outcome, ['consumed', 'expired', 'abandoned']),
  'turn-end': ({ status, reason, usage }) => {
    mustBeOneOf('status', status, ['completed', 'stopped', 'suspended', 'aborted', 'failed'])
    must('reason', reason === undefined || isObject(reason), 'must be an object')
    must('usage', usage === undefined || isObject(usage), 'must be an object')
  },
  'turn-start': ({ parent, agent }) => {
    if (agent !== undefined) mustBeText('agent', agent)
    must('parent', parent === undefined || isObject(parent), 'must be an object')
    if (!isObject(parent)) return
    const { conversation, turnId } = parent as Data
    mustBeText('parent.conversation', conversation)
    mustBeText('parent.turnId', turnId)
  },
  summary: ({ text, agent, upTo, trust, calls, keeps, usage, cost }) => {
    if (agent !== undefined) mustBeText('agent', agent)
    must('text', typeof text === 'string', 'must be a string')
    must('upTo', isCount(upTo), 'must be the number of an entry')
    mustBeOneOf('trust', trust, TRUST_TIERS)
    must('calls', isListOf(calls, isText), 'must be a list of at most 64 ids')
    const areEntries = keeps === undefined || isListOf(keeps, isCount)
    must('keeps', areEntries, 'must be a list of at most 64 entries')
    mustBeUsage(usage)
    must('cost', cost === undefined || isAmount(cost), 'must be a number')
  },
  'model-call': (data) => {
    const { iteration, attempt, digests, error, fallback, usage, cost, upTo } = data
    must('iteration', isCount(iteration), 'must be a number from 1 on')
    must('attempt', attempt === undefined || isCount(attempt), 'must be a number from 1 on')
    for (const name of ['api', 'provider', 'model', 'finish'] as const) {
      must(name, data[name] === undefined || isText(data[name]), 'must be a string')
    }
    for (const name of ['startedAt', 'firstTokenAt', 'endedAt'] as const) {
      must(name, data[name] === undefined || isTime(data[name]), 'must be a time')
    }
    must('adapter', ['undefined', 'string', 'number'].includes(typeof data['adapter']), 'is wrong')
    must('error', error === undefined || isError(error), 'must have a `message`')
    if (fallback !== undefined) {
      const { api, provider, model, error: why } = (fallback ?? {}) as Data
      must('fallback', [api, provider, model].every(isText) && isError(why), 'must name a model')
    }
    must('digests', isObject(digests), 'must be an object')
    const { request } = digests as Data
    must('digests.request', request === undefined || isDigest(request), 'must be a digest')
    mustBeUsage(usage)
    must('cost', cost === undefined || isAmount(cost), 'must be a number')
    must(
      'upTo',
      upTo === undefined || upTo === 0 || isCount(upTo),
      'must be the number of an entry',
    )
  },
  rewind: ({ toTurnId, message, agent }) => {
    if (agent !== undefined) mustBeText('agent', agent)
    mustBeText('toTurnId', toTurnId)
    mustBeText('message', message)
  },
  note: ({ level, code, message }) => {
    mustBeOneOf('level', level, ['info', 'warning', 'error'])
    mustBeText('code', code)
    must('message', typeof message === 'string', 'must be a string')
  },
}

/** The most calls that a summary lists, and the most messages that it keeps. */
const MAX_LISTED = 64

const isText = (value: unknown) => typeof value === 'string'
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 1
const isAmount = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
const isListOf = (value: unknown, is: (one: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length <= MAX_LISTED && value.every(is)

const isDigest = (value: unknown) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isError = (value: unknown): boolean => {
  const { code, message } = (isObject(value) ? value : {}) as Data
  return isText(message) && (code === undefined || isText(code))
}

/** Limits count what was used. */
function mustBeUsage(usage: unknown): void {
  const counts = usage === undefined ? [] : isObject(usage) ? Object.values(usage) : [null]
  must('usage', counts.every(isAmount), 'must be an object of numbers')
}

/** Whether a number is a time that a date can have. */
export const isTime = (value: unknown): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 8.64e15

const isDate = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))

function must(name: string, holds: boolean, rule: string): void {
  if (!holds) throw new Error(`\`${name}\` ${rule}`)
}

const mustBeText = (name: string, value: unknown): void =>
  must(name, typeof value === 'string' && value !== '', 'must be a non-empty string')

const mustBeOneOf = (name: string, value: unknown, known: readonly unknown[]): void =>
  must(name, known.includes(value), `must be one of ${known.filter(Boolean).join(', ')}`)
