import { BobbinError } from '../../core/error/error.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { normalizeJson } from '../../core/json/strict-json.ts'
import { Message } from '../../records/message.ts'
import { Media } from '../../spool/media.ts'
import { isConversationName } from '../../store/rows/store-input.ts'
import { askStore } from '../limits/failure.ts'
import type { TurnWishes } from './open-turn.ts'
import { outputShape } from './structured-output.ts'
import type { Turn } from './turn.ts'
import type {
  RecoverInput,
  RegenerateInput,
  ResumeInput,
  TurnInput,
  UndoInput,
} from './turn-input.ts'

/** Checks the input of `run` before anything happens, and gives the seed of its turn. */
export function checkInput(input: TurnInput): TurnWishes {
  requireInput(input, ['message', 'attachments', 'context', 'turnId', 'whenBusy'])
  const { conversation, context } = input
  checkMessage(input)
  if (conversation !== undefined && (typeof conversation !== 'string' || conversation === '')) {
    throw invalid('conversation', 'must be a non-empty string, or be left out')
  }
  checkSubmission(input)
  return { ...seedOf(input), ...(context !== undefined && { context: checkedContext(context) }) }
}

/** Checks the input of `regenerate`. */
export function checkRegenerate(input: RegenerateInput): TurnWishes {
  const own = ['message', 'attachments', 'redoEffects', 'undo', 'context', 'turnId', 'whenBusy']
  requireInput(input, own)
  const { conversation, message, attachments, redoEffects, whenBusy, context } = input
  if (typeof conversation !== 'string') throw invalid('conversation', 'must be a string')
  if (message !== undefined || attachments !== undefined) {
    checkMessage({ message: message ?? '', attachments })
  }
  // A string such as 'no' is truthy, and would repeat what must not repeat.
  if (redoEffects !== undefined && typeof redoEffects !== 'boolean') {
    throw invalid('redoEffects', 'must be true or false, or be left out')
  }
  if (input.undo !== undefined && typeof input.undo !== 'boolean') {
    throw invalid('undo', 'must be true or false, or be left out')
  }
  if (input.undo && (redoEffects || whenBusy === 'queue')) {
    throw invalid('undo', 'must be absent with `redoEffects`, and when `whenBusy` is `queue`')
  }
  if ((whenBusy as string | undefined) === 'steer') {
    throw invalid(
      'whenBusy',
      'must be `refuse` or `queue`: a turn cannot be taken back by steering',
    )
  }
  checkSubmission({ message: '', ...input })
  return { ...seedOf(input), ...(context !== undefined && { context: checkedContext(context) }) }
}

function checkMessage({ message, attachments = [] }: Unchecked<'message' | 'attachments'>): void {
  if (typeof message !== 'string') throw invalid('message', 'must be a string')
  if (!Array.isArray(attachments) || !attachments.every(Media.isMedia)) {
    throw invalid('attachments', 'must be a list of Media')
  }
  if (message === '' && attachments.length === 0) {
    throw invalid('message', 'must not be empty unless there are attachments')
  }
}

type Unchecked<Name extends string> = { readonly [N in Name]?: unknown }

const MAX_CONTEXT_BYTES = 64 * 1024
const CONTEXT = { root: 'context', code: 'E_INVALID_TURN_INPUT' } as const

/** A frozen copy: every handler sees the stored value. */
function checkedContext(context: unknown): JsonValue {
  const copy = normalizeJson(context, CONTEXT)
  const { byteLength } = new TextEncoder().encode(JSON.stringify(copy))
  if (byteLength <= MAX_CONTEXT_BYTES) return copy
  const rule = `must have at most ${MAX_CONTEXT_BYTES} bytes as JSON, and it has ${byteLength}`
  throw invalid('context', rule)
}

/** A turn can be found again, or wait, in a conversation that has a name. */
function checkSubmission({ conversation, turnId, whenBusy }: TurnInput): void {
  if (turnId !== undefined && (typeof turnId !== 'string' || !isConversationName(turnId))) {
    throw invalid('turnId', 'must be 1 to 512 characters of text, or be left out')
  }
  if (whenBusy !== undefined && !['refuse', 'queue', 'steer'].includes(whenBusy)) {
    throw invalid('whenBusy', 'must be `refuse`, `queue` or `steer`, or be left out')
  }
  if (conversation !== undefined) return
  if (turnId !== undefined) throw invalid('turnId', 'goes with a `conversation`')
  if (whenBusy !== undefined && whenBusy !== 'refuse') {
    throw invalid('whenBusy', 'goes with a `conversation`')
  }
}

/** Checks the input of `resume`. */
export function checkResume(input: ResumeInput): TurnWishes {
  requireInput(input, ['decisions'])
  const seed = conversationSeed(input)
  const { decisions } = input
  if (!Array.isArray(decisions)) throw invalid('decisions', 'must be a list; it may be empty')
  return seed
}

/** Checks the input of `recover`. */
export function checkRecover(input: RecoverInput): TurnWishes {
  requireInput(input, ['force'])
  // A string such as 'no' is truthy, and would take the conversation from a running process.
  if (input.force !== undefined && typeof input.force !== 'boolean') {
    throw invalid('force', 'must be true or false, or be left out')
  }
  return conversationSeed(input)
}

/** Checks the input of `undo`. */
export function checkUndo(input: UndoInput): TurnWishes {
  requireInput(input, ['toolCallId', 'decidedBy', 'context'], [])
  const { toolCallId, decidedBy, context } = input
  if (typeof toolCallId !== 'string' || toolCallId === '') {
    throw invalid('toolCallId', 'must name a call')
  }
  if (typeof decidedBy !== 'string' || decidedBy === '') {
    throw invalid('decidedBy', 'must say who asked for it')
  }
  const seed = conversationSeed(input)
  return { ...seed, ...(context !== undefined && { context: checkedContext(context) }) }
}

function conversationSeed(input: RecoverInput | ResumeInput | UndoInput): TurnWishes {
  if (typeof input.conversation !== 'string') throw invalid('conversation', 'must be a string')
  return seedOf(input)
}

/** Refuses unknown members: otherwise a turn would run without what the caller asked for. */
function requireInput(input: unknown, own: readonly string[], more = ['output']): void {
  if (typeof input !== 'object' || input === null) {
    throw invalid('', 'must be an object, such as `{ message }`')
  }
  const names = ['conversation', ...own, ...more, 'signal']
  const stray = Object.keys(input).find((name) => !names.includes(name))
  if (stray === undefined) return
  const wayOut = FOREIGN_INPUT[stray] ?? `use ${names.map((name) => `\`${name}\``).join(', ')}`
  throw invalid(stray, `is not known: ${wayOut}`)
}

/** Names that other kits use. */
const FOREIGN_INPUT: Readonly<Record<string, string | undefined>> = {
  __proto__: null as never,
  messages:
    'pass the new message as `message`; the store has the earlier ones of the `conversation`',
  prompt: 'pass `message`, a string',
  input: 'pass `message`, a string',
  abortSignal: 'pass `signal`',
}

type AnyInput = TurnInput | RecoverInput | ResumeInput | RegenerateInput | UndoInput

/** Checks what all inputs share. An error after the lease was taken would leave the conversation locked. */
function seedOf(input: AnyInput): TurnWishes {
  const { signal, output, force } = input as Partial<TurnInput & RecoverInput>
  if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) {
    throw invalid('signal', 'must be an AbortSignal, such as `controller.signal`, or be left out')
  }
  const shape = output === undefined ? undefined : outputShape(output)
  return { signal: signal ?? undefined, force, output: shape }
}

/** Commits the user's message. */
export async function addUserMessage(
  turn: Turn,
  input: Pick<TurnInput, 'message' | 'attachments'>,
): Promise<void> {
  await turn.log.commit([{ kind: 'message', message: await userMessage(turn, input) }])
}

/** The user's message, with its attachments on the spool. */
export async function userMessage(
  turn: Turn,
  input: Pick<TurnInput, 'message' | 'attachments'>,
): Promise<Message> {
  const { settings, output, interruption } = turn
  const { signal, watch } = interruption
  const attachments: Media[] = []
  for (const media of input.attachments ?? []) {
    const storing = askStore(() => media.spooled(output, { signal }))
    attachments.push(await watch.orAborted(storing))
  }
  return new Message({
    id: settings.ids(),
    role: 'user',
    ...(input.message !== '' && { content: input.message }),
    attachments,
    createdAt: settings.clock.now(),
  })
}

export function invalid(path: string, rule: string): BobbinError {
  const message = `${path === '' ? 'The input' : `\`${path}\``} of the turn ${rule}.`
  return new BobbinError('E_INVALID_TURN_INPUT', message, { path, rule })
}
