import { cutText } from '../core/error/cut-text.ts'
import { isIterable, isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { Gate } from '../store/gate.ts'
import type { ApprovalAnswer } from '../turn/gates/gate-answer.ts'

/** What a client's approvals are checked against. */
export interface ApprovalsOptions {
  /** The open gates of the conversation: `await store.openGates(conversation)`. */
  readonly gates: Iterable<Gate>
  /** Who sent the request, by your own sign-in; never by the body. */
  readonly decidedBy: string
}

/** Longer reasons are cut. */
const MAX_REASON = 2000

/**
 * The decisions in the body of a request of a chat client, for `resume`. Of everything in the body, only the answers
 * `{ approvalId, approved, reason }` are read, and only those that name an open gate; calls, results and arguments in it
 * mean nothing. An answer of no wins over an answer of yes to the same gate.
 */
export function approvalsOf(body: unknown, options: ApprovalsOptions): ApprovalAnswer[] {
  requireOptions('approvalsOf', options, ['gates', 'decidedBy'])
  const { gates, decidedBy } = options
  if (!isIterable(gates)) {
    throw wrongInput('approvalsOf', 'gates', 'must be a list of gates: `await store.openGates(…)`')
  }
  if (typeof decidedBy !== 'string' || decidedBy === '') {
    throw wrongInput('approvalsOf', 'decidedBy', 'must say who decided')
  }
  const open = new Map<unknown, Gate>()
  for (const gate of gates) {
    if (!isObject(gate)) throw wrongInput('approvalsOf', 'gates', 'must hold gates only')
    if (gate.kind === 'approval' && gate.state === 'pending') open.set(gate.id, gate)
  }
  const found = new Map<string, ApprovalAnswer>()
  for (const { approvalId, approved, reason } of answersIn(body)) {
    const gate = open.get(approvalId)
    if (gate === undefined || typeof approved !== 'boolean') continue
    if (found.get(gate.id)?.approve === false) continue
    const why = typeof reason === 'string' &&
      reason !== '' && { reason: cutText(reason, MAX_REASON) }
    found.set(gate.id, { gate: gate.id, approve: approved, decidedBy, ...why })
  }
  return [...found.values()]
}

interface Answer {
  readonly approvalId: unknown
  readonly approved: unknown
  readonly reason: unknown
}

/** Every answer in the messages: in a tool part of a UI message, or as a part of its own. */
function* answersIn(body: unknown): Generator<Answer> {
  for (const message of list(own(body, 'messages'))) {
    for (const part of [...list(own(message, 'parts')), ...list(own(message, 'content'))]) {
      if (own(part, 'type') === 'tool-approval-response') {
        yield answer(own(part, 'approvalId'), part)
      }
      if (own(part, 'state') !== 'approval-responded') continue
      const approval = own(part, 'approval')
      yield answer(own(approval, 'id'), approval)
    }
  }
}

const answer = (approvalId: unknown, from: unknown): Answer => ({
  approvalId,
  approved: own(from, 'approved'),
  reason: own(from, 'reason'),
})

/** A member of an object itself: what a client puts into a prototype does not count. */
function own(value: unknown, name: string): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** What the user wrote. */
export interface UserMessage {
  /** The id that the client gave it; absent if it is not a text of at most 200 characters. */
  readonly id?: string
  readonly text: string
}

/**
 * The new message in the body of a request of a chat client: the text of the last message, if that is a user's.
 * Everything before it is the client's own copy of the conversation and is not read: the store has the true one.
 */
export function userMessageOf(body: unknown): UserMessage | undefined {
  const last = list(own(body, 'messages')).at(-1)
  if (own(last, 'role') !== 'user') return undefined
  const texts = list(own(last, 'parts')).flatMap((part) => {
    const text = own(part, 'type') === 'text' ? own(part, 'text') : undefined
    return typeof text === 'string' ? [text] : []
  })
  const text = texts.join('\n')
  if (text.trim() === '') return undefined
  const id = own(last, 'id')
  return { text, ...(typeof id === 'string' && id !== '' && id.length <= 200 && { id }) }
}
