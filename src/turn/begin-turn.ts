import { BobbinError } from '../core/error.ts'
import { Message } from '../records/message.ts'
import { Media } from '../spool/media.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import type { TurnSeed } from './open-turn.ts'
import { ofStore } from './store-failure.ts'
import { outputShape } from './structured-output.ts'
import type { Turn } from './turn.ts'
import type { RecoverInput, ResumeInput, TurnInput } from './turn-input.ts'

/** Gives what a turn is opened with; refuses input that none can be made of, before anything is touched. */
export function checkInput(input: TurnInput): TurnSeed {
  requireInput(input)
  const { conversation, message, attachments = [] } = input
  if (typeof message !== 'string') throw invalid('message', 'must be a string')
  if (!Array.isArray(attachments) || !attachments.every(Media.isMedia)) {
    throw invalid('attachments', 'must be a list of Media')
  }
  if (message === '' && attachments.length === 0) {
    throw invalid('message', 'must not be empty unless there are attachments')
  }
  if (conversation !== undefined && (typeof conversation !== 'string' || conversation === '')) {
    throw invalid('conversation', 'must be a non-empty string, or be left out')
  }
  return seedOf(input)
}

/** Refuses what no turn can go on with. */
export function checkResume(input: ResumeInput): TurnSeed {
  const seed = checkRecover(input)
  const { decisions } = input
  if (!Array.isArray(decisions)) throw invalid('decisions', 'must be a list; it may be empty')
  return seed
}

/** Refuses to pick up nothing in particular. */
export function checkRecover(input: RecoverInput): TurnSeed {
  requireInput(input)
  if (typeof input.conversation !== 'string') throw invalid('conversation', 'must be a string')
  // A word that means no would take the conversation from a runner that lives.
  if (input.force !== undefined && typeof input.force !== 'boolean') {
    throw invalid('force', 'must be true or false, or be left out')
  }
  return seedOf(input)
}

function requireInput(input: unknown): void {
  if (typeof input === 'object' && input !== null) return
  throw invalid('', 'must be an object, such as `{ message }`')
}

/** What every way into a turn takes; found out later, it would leave the conversation held by nobody. */
function seedOf(input: TurnInput | RecoverInput | ResumeInput): TurnSeed {
  const { conversation, signal, output, force } = input as Partial<TurnInput & RecoverInput>
  if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) {
    throw invalid('signal', 'must be an AbortSignal, such as `controller.signal`, or be left out')
  }
  const shape = output === undefined ? undefined : outputShape(output)
  return { conversation, signal: signal ?? undefined, force, output: shape }
}

/** Puts what the user said into the conversation. */
export async function addUserMessage(
  turn: Turn,
  input: Pick<TurnInput, 'message' | 'attachments'>,
): Promise<void> {
  const { settings, conversation, results } = turn
  const attachments: Media[] = []
  for (const media of input.attachments ?? []) {
    const { signal, interruption } = turn
    const storing = ofStore(() => media.spooled(results, { signal }))
    attachments.push(await interruption.watch.orAborted(storing))
  }
  const message = new Message({
    id: settings.ids(),
    role: 'user',
    ...(input.message !== '' && { content: input.message }),
    attachments,
    createdAt: settings.clock.now(),
  })
  await conversation.append([LastingEntry.message(turn.id, message)])
  await conversation.say(message)
}

function invalid(path: string, rule: string): BobbinError {
  const message = `${path === '' ? 'The input' : `\`${path}\``} of the turn ${rule}.`
  return new BobbinError('E_INVALID_TURN_INPUT', message, { path, rule })
}
