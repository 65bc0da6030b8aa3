import type { ClientCapabilities, InputRequest } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../core/json/json.ts'
import type { Gate } from '../../store/gate.ts'
import { visibleText } from '../../text/visible-text.ts'
import type { GateAnswer } from '../../turn/gates/gate-answer.ts'
import { isJsonObject, textIn } from '../client/safe-schema.ts'

/** What a client may decide, and in whose name. */
export interface ApprovalPolicy {
  readonly approvals: 'client' | undefined
  readonly decidedBy: string
}

const MAX_ARGUMENTS = 4_000

/** What a client reads before it approves a call; undefined if the arguments cannot be shown whole. */
export function approvalText({ why, tool = '', args = {} }: Gate): string | undefined {
  const shown = visibleText(JSON.stringify(args))
  if (shown.length > MAX_ARGUMENTS) return undefined
  return `${why} The call: \`${visibleText(tool)}\` with ${shown}`
}

/** The form of an approval. */
export const APPROVAL_FORM = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve this call' } },
  required: ['approve'],
} as const

const PLAIN = ['string', 'number', 'integer', 'boolean']

/** The question of a gate as an elicitation; undefined if a client may not or cannot answer it. */
export function elicitationOf(gate: Gate, { approvals }: ApprovalPolicy): InputRequest | undefined {
  const { kind, message = gate.why, schema, url } = gate
  if (kind === 'link' && url !== undefined) {
    return question({ mode: 'url', message, url })
  }
  if (kind === 'input' && schema !== undefined && isFlat(schema)) {
    return question({ mode: 'form', message, requestedSchema: schema })
  }
  if (kind !== 'approval' || approvals !== 'client') return undefined
  const text = approvalText(gate)
  return text === undefined
    ? undefined
    : question({ mode: 'form', message: text, requestedSchema: APPROVAL_FORM })
}

/** Why a client is not asked what a gate asks. */
export function refusalOf({ kind }: Gate): string {
  if (kind === 'approval') {
    return 'This call needs an approval that this server does not take from its clients. It was not run.'
  }
  if (kind === 'result') {
    return 'This call needs a result that this server does not take from its clients. It was not run.'
  }
  return 'This call asks with a form of more than one level, which MCP clients cannot show. It was declined.'
}

/** What a client reads if it may approve a call, but would not see all of it. */
export function unshownText({ id, conversation }: Gate): string {
  return `This call needs an approval, and its arguments are too long to be shown whole, so the client is not asked. It was not run. A person can decide at the store: gate \`${id}\` of conversation \`${conversation}\`.`
}

/** Whether a client may approve a call, but would not see all of it. */
export const isUnshown = (gate: Gate, { approvals }: ApprovalPolicy): boolean =>
  gate.kind === 'approval' && approvals === 'client' && approvalText(gate) === undefined

const question = (params: object) =>
  ({ method: 'elicitation/create', params }) as unknown as InputRequest

/** Whether a client says that it can answer a question. One that names no kind of questions means forms. */
export function canAnswer(
  { params }: InputRequest,
  { elicitation }: ClientCapabilities = {},
): boolean {
  if (elicitation === undefined) return false
  const { form, url } = elicitation
  const isLink = (params as { readonly mode?: unknown } | undefined)?.mode === 'url'
  return isLink ? url !== undefined : form !== undefined || url === undefined
}

/** Forms of MCP have one level. */
export function isFlat({ properties = {} }: JsonObject): boolean {
  return (
    isJsonObject(properties) &&
    Object.values(properties).every(
      (each) =>
        isJsonObject(each) &&
        (PLAIN.includes(textIn(each['type'])) ||
          (each['type'] === 'array' && isJsonObject(each['items']))),
    )
  )
}

/** The decision in an answer of a client. Whatever is not an acceptance declines. */
export function decisionOf(gate: Gate, answer: unknown, decidedBy: string): GateAnswer {
  const { action, content } = isJsonObject(answer) ? answer : {}
  const decided = { gate: gate.id, decidedBy }
  if (action !== 'accept') return { ...decided, approve: false }
  if (gate.kind === 'link') return { ...decided, done: true }
  if (gate.kind === 'input') return { ...decided, value: content ?? {} }
  return { ...decided, approve: isJsonObject(content) && content['approve'] === true }
}
