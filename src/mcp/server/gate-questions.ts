import type { ClientCapabilities, InputRequest } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../core/json/json.ts'
import type { Gate } from '../../store/gate.ts'
import type { GateAnswer } from '../../turn/gates/gate-answer.ts'
import { isJsonObject, textIn } from '../client/safe-schema.ts'
import { APPROVAL_FORM, type ApprovalPolicy, approvalText } from './agent-tool.ts'

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
  return question({ mode: 'form', message: text, requestedSchema: APPROVAL_FORM })
}

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
function isFlat({ properties = {} }: JsonObject): boolean {
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
