import { BobbinError } from '../../core/error/error.ts'
import { isObject } from '../../core/error/wrong-input.ts'
import type { JsonObject, JsonValue, PlainObject } from '../../core/json/json.ts'
import { canonicalArguments } from '../../core/json/key-order.ts'
import { normalizeJson } from '../../core/json/strict-json.ts'
import { mayBeLate } from '../../store/core/late-result.ts'
import { isGrantFault } from '../../store/core/new-grant.ts'
import type { Gate, GateRequest, GateVerdict, NewGateDecision } from '../../store/gate.ts'
import type { GrantRequest, NewGrant } from '../../store/grant.ts'
import { decidedGate, EDIT_REFUSED, originalPlace } from '../../store/rows/gate-row.ts'
import type { RunnerStore } from '../../store/store.ts'
import { gateState, notFound } from '../../store/store-errors.ts'
import { issuesText, type PlainJsonSchema } from '../../tools/input-schema.ts'
import { compileSchema } from '../../tools/schema-validation.ts'
import type { ToolOutput } from '../../tools/tool-context.ts'
import type { ToolRegistry } from '../../tools/tool-registry.ts'
import { errorText } from '../limits/failure.ts'
import { type GrantRules, grantOf } from './grant-answer.ts'

/** An answer to a gate, as an application gives it. */
export type GateAnswer = ApprovalAnswer | InputAnswer | LinkAnswer | ResultAnswer | ErrorAnswer

interface AnyAnswer {
  readonly gate: string
  /** Who decided; authorising them is the application's job. */
  readonly decidedBy: string
  /** The digest that the person saw. If given, it must be the gate's. */
  readonly digest?: string
}

/** The value that a gate of kind `input` asks for. */
export interface InputAnswer extends AnyAnswer {
  readonly value: JsonValue
}

/** The person was where a gate of kind `link` sends them. */
export interface LinkAnswer extends AnyAnswer {
  readonly done: true
}

/** The result of an external call: JSON, or anything that a handler may return. */
export interface ResultAnswer extends AnyAnswer {
  readonly result: ToolOutput
}

/** Why an external call failed. */
export interface ErrorAnswer extends AnyAnswer {
  readonly error: string | Error
}

/** A verdict on a call; `approve: false` declines a gate of any kind. */
export interface ApprovalAnswer extends AnyAnswer {
  readonly approve: boolean
  /** Arguments to run instead. They become a call of their own, whose record points at the original. */
  readonly args?: PlainObject
  /** The model reads it when the answer is no. */
  readonly reason?: string
  /** Lets later calls that fit run without asking; beside `approve: true` only. */
  readonly grant?: GrantRequest
}

/** Decides in process, without suspending the turn. */
export type Approve = (
  request: GateRequest,
) => boolean | Omit<ApprovalAnswer, 'gate'> | Promise<boolean | Omit<ApprovalAnswer, 'gate'>>

const ANSWERS = ['approve', 'value', 'done', 'result', 'error'] as const
const KEYS: readonly string[] = [
  ...ANSWERS,
  'gate',
  'decidedBy',
  'digest',
  'args',
  'reason',
  'grant',
]

/** A decision, and the member of the answer that gave it. */
interface ReadAnswer {
  readonly decision: NewGateDecision
  readonly by: (typeof ANSWERS)[number]
}

/** Checks an answer and turns it into the store's form. It may come straight from a client. */
function decisionOf(gate: string, answer: unknown): ReadAnswer {
  const refuse = (path: string, rule: string) => invalid(gate, path, rule)
  if (typeof answer !== 'object' || answer === null) throw refuse('', 'must be an object')
  // Own members only: a client's `__proto__` must not decide.
  const given: Readonly<Record<string, unknown>> = { __proto__: null, ...answer }
  const unknownKey = Object.keys(given).find((key) => !KEYS.includes(key))
  if (unknownKey !== undefined) throw refuse(unknownKey, 'is not part of a decision')
  const { approve, decidedBy, digest, args, reason } = given
  const [answered = 'approve', another] = ANSWERS.filter((key) => given[key] !== undefined)
  if (another !== undefined) throw refuse(another, `must be absent with \`${answered}\``)
  const isVerdict = answered === 'approve'
  if (isVerdict && typeof approve !== 'boolean') throw refuse('approve', 'must be true or false')
  if (typeof decidedBy !== 'string' || decidedBy === '') {
    throw refuse('decidedBy', 'must say who decided')
  }
  if (digest !== undefined && typeof digest !== 'string') throw refuse('digest', 'must be a string')
  if (reason !== undefined && typeof reason !== 'string') throw refuse('reason', 'must be a string')
  if (args !== undefined && approve !== true) throw refuse('args', 'go with an approval only')
  const { grant } = given
  if (grant !== undefined && approve !== true) throw refuse('grant', 'goes with an approval only')
  if (grant !== undefined && !isObject(grant)) throw refuse('grant', 'must be an object')
  if (answered === 'done' && given['done'] !== true) throw refuse('done', 'must be true')
  if (!isVerdict && reason !== undefined) throw refuse('reason', 'goes with a verdict only')
  const value = answered === 'value' ? answeredValue(gate, given['value']) : undefined
  const decision: NewGateDecision = {
    verdict: isVerdict ? verdictOf(approve === true, args) : 'answered',
    decidedBy,
    ...(args !== undefined && { args: editedArguments(gate, args) }),
    ...(value !== undefined && { value }),
    ...(answered === 'result' && storedResult(given['result'])),
    ...(answered === 'error' && { error: givenError(gate, given['error']) }),
    ...(reason !== undefined && { comment: reason }),
    ...(digest !== undefined && { digest }),
    ...(grant !== undefined && { grant: grant as NewGrant }),
  }
  return { decision, by: answered }
}

/**
 * A result as the gate keeps it until a turn uses it. A value that is not JSON stays in this process; if that process
 * dies first, the call has failed.
 */
function storedResult(result: unknown): Pick<NewGateDecision, 'value' | 'error'> {
  try {
    return { value: normalizeJson(result, RESULT) }
  } catch {
    return { error: 'The call ran, and its result was lost: the process that had it ended.' }
  }
}

const RESULT = { root: 'result', code: 'E_INVALID_OUTPUT' } as const

function givenError(gate: string, error: unknown): string {
  const text: unknown = error instanceof Error ? error.message : error
  if (typeof text === 'string' && text !== '') return text
  throw invalid(gate, 'error', 'must be a text that says what failed')
}

const verdictOf = (approve: boolean, args: unknown): GateVerdict =>
  approve ? (args === undefined ? 'approved' : 'edited') : 'denied'

function answeredValue(gate: string, value: unknown): JsonValue {
  try {
    return normalizeJson(value, VALUE)
  } catch (error) {
    throw invalid(gate, 'value', errorText(error))
  }
}

const VALUE = { root: 'value', code: 'E_INVALID_OUTPUT' } as const

function editedArguments(gate: string, args: unknown): JsonObject {
  try {
    if (typeof args !== 'object') throw new Error('must be an object')
    return canonicalArguments(args)
  } catch (error) {
    throw invalid(gate, 'args', errorText(error))
  }
}

export interface GateHolder extends GrantRules {
  readonly tools: ToolRegistry
}

/** Decides a gate by compare-and-set, after edited arguments were checked. */
export async function decideGate(
  settings: GateHolder,
  conversation: string,
  gate: string,
  answer: unknown,
): Promise<Gate> {
  const { decision } = await checkedDecision(settings, conversation, gate, answer)
  return settings.store.decideGate(conversation, gate, decision)
}

/** A checked decision, the gate that it is about, and the answer as it was understood. */
export interface CheckedDecision {
  readonly decision: NewGateDecision
  readonly gate: Gate
  readonly answer: GateAnswer
  /** A result that only this process has. */
  readonly output?: { readonly given: unknown; readonly gate: string }
}

/**
 * Checks all answers before the first gate is decided: if one is invalid, no gate is decided, and the corrected list can be
 * sent again.
 */
export async function decisionsOf(
  settings: GateHolder,
  conversation: string,
  answers: readonly GateAnswer[],
): Promise<ReadonlyMap<string, CheckedDecision>> {
  const decisions = new Map<string, CheckedDecision>()
  for (const given of answers) {
    // Read each answer once: the checked value must be the decided value.
    const answer = isObject(given) ? { ...given } : given
    const id = Object.hasOwn(Object(answer) as object, 'gate') ? answer.gate : ''
    const { decision, by } = await checkedDecision(settings, conversation, id, answer)
    const gate = await settings.store.gate(conversation, id)
    if (gate === undefined) throw notFound('gate', id)
    // `gate.state` already says whether the gate has expired.
    decidedGate(gate, decision, gate.openedAt, await isLate(settings.store, gate))
    if (decisions.has(id)) {
      const why = 'the list answers it twice. Nothing was decided; send it again, corrected'
      throw gateState(id, gate.state, decision.verdict, why)
    }
    const { args, value, grant } = decision
    const isAnswered = by === 'value' && { value }
    const isOnlyHere = by === 'result' && value === undefined
    const used = isOnlyHere ? await innermost(settings.store, gate) : id
    const parsed = { ...(args && { args }), ...isAnswered, ...(grant && { grant }) }
    decisions.set(id, {
      decision,
      gate,
      answer: Object.freeze({ ...answer, ...parsed }),
      ...(isOnlyHere && { output: { given: (answer as ResultAnswer).result, gate: used } }),
    })
  }
  return decisions
}

/** The results that only this process has, by the gate of the turn that uses them. */
export function outputsOf(checked: ReadonlyMap<string, CheckedDecision>) {
  const outputs = new Map<string, unknown>()
  for (const { output } of checked.values()) if (output) outputs.set(output.gate, output.given)
  return outputs
}

/** The gate of the turn that asked, of which this one may be a copy. */
async function innermost(store: RunnerStore, gate: Gate): Promise<string> {
  const place = originalPlace(gate)
  if (place === undefined) return gate.id
  const original = await store.gate(place.conversation, place.gate)
  return original === undefined ? place.gate : innermost(store, original)
}

/** Whether the gate was given up and still takes a result. A turn inside a call has ended with its call. */
async function isLate(store: RunnerStore, gate: Gate): Promise<boolean> {
  const { conversation } = gate
  if (!(await mayBeLate(gate, (kind, id) => store.get(conversation, kind, id)))) return false
  const [first] = (await store.find({ conversation, kind: 'turn-start', limit: 1 })).entries
  return first?.entry.kind !== 'turn-start' || first.entry.data.parent === undefined
}

async function checkedDecision(
  settings: GateHolder,
  conversation: string,
  gate: string,
  answer: unknown,
): Promise<ReadAnswer> {
  if (typeof gate !== 'string' || gate === '') throw invalid('', 'gate', 'must name a gate')
  const { store, tools } = settings
  const read = decisionOf(gate, answer)
  const { decision } = read
  if (decision.verdict === 'denied') return read
  const waiting = await store.gate(conversation, gate)
  if (waiting !== undefined) {
    const answered = await fittingAnswer(waiting, read)
    if (answered.verdict === 'answered' || decision.verdict === 'answered') {
      return { ...read, decision: answered }
    }
    if (decision.grant !== undefined) {
      const grant = await grantOf(settings, waiting, decision)
      if (isGrantFault(grant)) throw invalid(gate, grant.path, grant.rule)
      return { ...read, decision: { ...decision, grant } }
    }
  }
  if (decision.args === undefined) return read
  if (waiting?.from === 'provider') throw invalid(gate, 'args', EDIT_REFUSED)
  // A gate of an inner turn is about a tool of that turn, which checks the arguments itself.
  const tool = waiting?.context?.['gate'] === undefined ? tools.get(waiting?.tool ?? '') : undefined
  const validation = tool && (await tool.validate(decision.args))
  if (validation?.ok === false) {
    throw invalid(gate, 'args', `do not fit the tool: ${issuesText(validation.issues)}`)
  }
  return read
}

/** What each kind of gate asks for. */
const ASKS: Readonly<Record<Gate['kind'], string>> = {
  approval: '`approve`',
  input: 'a `value`',
  link: '`done: true`',
  result: 'a `result` or an `error`',
}

const FITS: Readonly<Record<Gate['kind'], readonly ReadAnswer['by'][]>> = {
  approval: ['approve'],
  input: ['value'],
  link: ['done'],
  result: ['result', 'error'],
}

/** The decision, if it is of the kind that the gate asks for. */
async function fittingAnswer(gate: Gate, { decision, by }: ReadAnswer): Promise<NewGateDecision> {
  const { id, kind, from, schema } = gate
  const isConsent = kind === 'link' && from === 'provider'
  // The provider knows approvals only.
  if (isConsent && by === 'done') return { ...decision, verdict: 'approved' }
  const isFit = FITS[kind].includes(by) || (isConsent && by === 'approve')
  if (!isFit) throw invalid(id, by, `does not fit: it asks for ${ASKS[kind]}`)
  if (kind !== 'input') return decision
  const { value } = decision
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(id, 'value', 'must be an object that fits the schema of the gate')
  }
  const { validate } = compileSchema(schema as PlainJsonSchema, { ...SCHEMA })
  const checked = await validate(value as JsonObject)
  if (checked.ok) return decision
  throw invalid(id, 'value', `does not fit the schema of the gate: ${issuesText(checked.issues)}`)
}

const SCHEMA = { name: 'schema', path: 'schema', code: 'E_INVALID_OUTPUT' } as const

function invalid(gate: string, path: string, rule: string): BobbinError {
  const what = path === '' ? 'The decision' : `\`${path}\` of the decision`
  const message = `${what} on gate \`${gate}\` ${rule}. Nothing was decided; send it again, corrected.`
  return new BobbinError('E_INVALID_DECISION', message, { gate, path, rule })
}
