import { isBobbinError } from '../../core/error/error.ts'
import type { Gate } from '../../store/gate.ts'
import { inputRequired, linkRequired, type PersonRequest } from '../../tools/person-request.ts'
import { Tool } from '../../tools/tool.ts'
import type { GivenInput } from '../../tools/tool-context.ts'
import type { TurnOutcome } from '../../turn/limits/outcome.ts'
import { settingsOf, type TurnRunner } from '../../turn/turn-runner.ts'
import {
  APPROVAL_FORM,
  type ApprovalPolicy,
  approvalText,
  isFlat,
  unshownText,
} from './gate-questions.ts'
import type { RunningCalls } from './running-calls.ts'

/** How agents are served. */
interface AgentScope extends ApprovalPolicy {
  readonly running: RunningCalls
}

const INPUT = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'What to ask the agent.' },
    conversation: {
      type: 'string',
      description: 'Continues a conversation: the value that an earlier answer gave.',
    },
  },
  required: ['message'],
  additionalProperties: false,
} as const

/** They look different from the ids of calls, whose results clients may read: what the tools of an agent gave is not for clients. */
const OWN_ID = /^mcp-agent-[0-9a-f-]{36}$/

/** Whether a server made a conversation for an agent: others in its store are other people's, and clients make up none. */
const isOwn = async (runner: TurnRunner, id: string): Promise<boolean> =>
  OWN_ID.test(id) && (await settingsOf(runner).store.conversation(id)) !== undefined

/** An agent as a tool: each call is a turn of its runner, and its gates are questions of the call. */
export function agentTool(name: string, runner: TurnRunner, scope: AgentScope): Tool {
  return new Tool({
    name,
    description: `Asks the agent \`${name}\`, which answers in text.`,
    inputSchema: INPUT,
    effect: 'write',
    // None: the runner of the agent limits its turn.
    timeoutMs: Number.MAX_SAFE_INTEGER,
    // Its turn may end after the call around it, which does not wait.
    handler: ({ message, conversation }, ctx) =>
      scope.running
        .run(ctx.signal, (signal) =>
          askAgent(runner, scope, message, conversation, { input: ctx.input, signal }),
        )
        .catch((error: unknown) => {
          throw forClient(error)
        }),
  })
}

/** What an attempt at a call gives to its handler. */
interface AgentAttempt {
  readonly input: GivenInput | undefined
  readonly signal: AbortSignal
}

/** An error as a client may read it: the usual words about a busy conversation are for those who run the server. */
export const forClient = (error: unknown): unknown =>
  isBobbinError(error, 'E_CONVERSATION_BUSY')
    ? new Error('This conversation is busy. Try again later.')
    : error

async function askAgent(
  runner: TurnRunner,
  policy: ApprovalPolicy,
  message: string,
  given: string | undefined,
  { input, signal }: AgentAttempt,
): Promise<PersonRequest | AgentAnswer> {
  if (given !== undefined && !(await isOwn(runner, given))) {
    throw new Error('There is no such conversation. Leave `conversation` out to begin one.')
  }
  const conversation = given ?? `mcp-agent-${crypto.randomUUID()}`
  let outcome: TurnOutcome =
    input === undefined
      ? await runner.run({ message, conversation, signal })
      : await answer(runner, policy, input, signal)
  while (outcome.status === 'suspended') {
    const [gate] = outcome.gates
    if (gate === undefined) break
    const question = questionOf(gate, policy)
    if (question !== undefined) return question
    const decisions = [{ gate: gate.id, decidedBy: policy.decidedBy, approve: false }]
    outcome = await runner.resume({ conversation: gate.conversation, decisions, signal })
  }
  const { conversation: id, text } = outcome
  if (outcome.status === 'completed') return { answer: text, conversation: id }
  throw new Error(`${outcome.reason.message} To continue, pass \`conversation\`: \`${id}\`.`)
}

/** Asks the client what a gate of the agent asks; undefined if the client may not or cannot decide it. */
function questionOf(gate: Gate, policy: ApprovalPolicy): PersonRequest | undefined {
  const { id, conversation, kind, message = gate.why, url, schema } = gate
  const state = { gate: id, conversation }
  // A question that is declined must be declined inside too.
  const runOnDecline = true
  if (kind === 'link' && url !== undefined) {
    return linkRequired({ message, url, state, runOnDecline })
  }
  if (kind === 'input' && schema !== undefined && isFlat(schema)) {
    return inputRequired({ message, schema: { ...schema, type: 'object' }, state, runOnDecline })
  }
  if (kind !== 'approval' || policy.approvals !== 'client') return undefined
  const text = approvalText(gate)
  if (text === undefined) throw new Error(unshownText(gate))
  const asked = { ...state, approval: true }
  return inputRequired({ message: text, schema: APPROVAL_FORM, state: asked, runOnDecline })
}

interface AgentAnswer {
  readonly answer: string
  readonly conversation: string
}

interface AgentState {
  readonly gate: string
  readonly conversation: string
  readonly approval?: true
}

function answer(
  runner: TurnRunner,
  { approvals, decidedBy }: ApprovalPolicy,
  { value, done, declined, state }: GivenInput,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const { gate, conversation, approval } = state as unknown as AgentState
  const isYes = (value as { readonly approve?: unknown } | undefined)?.approve === true
  // The server that asked may have had other rules.
  const approve = isYes && approvals === 'client'
  const decision =
    approval || declined
      ? { gate, decidedBy, approve }
      : done === true
        ? { gate, decidedBy, done }
        : { gate, decidedBy, value: value ?? {} }
  return runner.resume({ conversation, decisions: [decision], signal })
}
