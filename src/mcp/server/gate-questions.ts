import type { InputRequest } from '@modelcontextprotocol/server'
import { brief } from '../../core/error/cut-text.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Gate } from '../../store/gate.ts'
import type { GateAnswer } from '../../turn/gates/gate-answer.ts'
import { isJsonObject, textIn } from '../client/safe-schema.ts'
import { APPROVAL_FORM, type ApprovalPolicy } from './agent-tool.ts'

const PLAIN = ['string', 'number', 'integer', 'boolean']
const MAX_ARGUMENTS = 4_000

/** The question of a gate as an elicitation; undefined if a client may not or cannot answer it. */
export function elicitationOf(gate: Gate, { approvals }: ApprovalPolicy): InputRequest | undefined {
  const { kind, message = gate.why, schema, url } = gate
  if (kind === 'link' && url !== undefined) {
    return elicitation({ mode: 'url', message, url })
  }
  if (kind === 'input' && schema !== undefined && isFlat(schema)) {
    return elicitation({ mode: 'form', message, requestedSchema: schema })
  }
  if (kind !== 'approval' || approvals !== 'client') return undefined
  const args = brief(JSON.stringify(gate.args ?? {}), MAX_ARGUMENTS)
  const text = `${gate.why} The call: \`${gate.tool ?? ''}\` with ${args}`
  return elicitation({ mode: 'form', message: text, requestedSchema: APPROVAL_FORM })
}

const elicitation = (params: object) =>
  ({ method: 'elicitation/create', params }) as unknown as InputRequest

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
