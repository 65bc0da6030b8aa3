import { brief } from '../../core/error/cut-text.ts'
import type { Gate } from '../../store/gate.ts'
import { inputRequired, linkRequired, type PersonRequest } from '../../tools/person-request.ts'
import { Tool } from '../../tools/tool.ts'
import type { GivenInput, ToolOutput } from '../../tools/tool-context.ts'
import type { TurnOutcome } from '../../turn/limits/outcome.ts'
import type { TurnRunner } from '../../turn/turn-runner.ts'
import type { RunningCalls } from './running-calls.ts'

/** What a client may decide, and in whose name. */
export interface ApprovalPolicy {
  readonly approvals: 'client' | undefined
  readonly decidedBy: string
}

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

/**
 * Accepts only ids that this server made for agents: other ids name other people's conversations. They look different from
 * those of calls, whose results clients may read: what the tools of an agent gave is not for clients.
 */
const OWN_ID = /^mcp-agent-[0-9a-f-]{36}$/

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
      scope.running.run(ctx.signal, (signal) =>
        askAgent(runner, scope, message, conversation, { input: ctx.input, signal }),
      ),
  })
}

/** What an attempt at a call gives to its handler. */
interface AgentAttempt {
  readonly input: GivenInput | undefined
  readonly signal: AbortSignal
}

async function askAgent(
  runner: TurnRunner,
  policy: ApprovalPolicy,
  message: string,
  given: string | undefined,
  { input, signal }: AgentAttempt,
): Promise<ToolOutput> {
  if (given !== undefined && !OWN_ID.test(given)) {
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
  if (outcome.status !== 'completed') {
    const { conversation: id, reason } = outcome
    throw new Error(`${reason.message} To continue, pass \`conversation\`: \`${id}\`.`)
  }
  return { answer: outcome.text, conversation: outcome.conversation }
}

/** Asks the client what a gate of the agent asks; undefined if the client may not decide it. */
function questionOf(gate: Gate, { approvals }: ApprovalPolicy): PersonRequest | undefined {
  const { id, conversation, kind, message = gate.why, url, schema } = gate
  const state = { gate: id, conversation }
  if (kind === 'link' && url !== undefined) return linkRequired({ message, url, state })
  if (kind === 'input' && schema !== undefined) {
    return inputRequired({ message, schema: { ...schema, type: 'object' }, state })
  }
  if (kind !== 'approval' || approvals !== 'client') return undefined
  return inputRequired({
    message: approvalText(gate),
    schema: APPROVAL_FORM,
    state: { ...state, approval: true },
  })
}

const MAX_ARGUMENTS = 4_000

/** What a client reads before it approves a call. */
export function approvalText({ why, tool = '', args = {} }: Gate): string {
  return `${why} The call: \`${tool}\` with ${brief(JSON.stringify(args), MAX_ARGUMENTS)}`
}

/** The form of an approval. */
export const APPROVAL_FORM = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve this call' } },
  required: ['approve'],
} as const

interface AgentState {
  readonly gate: string
  readonly conversation: string
  readonly approval?: true
}

function answer(
  runner: TurnRunner,
  { approvals, decidedBy }: ApprovalPolicy,
  { value, done, state }: GivenInput,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const { gate, conversation, approval } = state as unknown as AgentState
  const isYes = (value as { readonly approve?: unknown } | undefined)?.approve === true
  // The server that asked may have had other rules.
  const approve = isYes && approvals === 'client'
  const decision = approval
    ? { gate, decidedBy, approve }
    : done === true
      ? { gate, decidedBy, done }
      : { gate, decidedBy, value: value ?? {} }
  return runner.resume({ conversation, decisions: [decision], signal })
}
