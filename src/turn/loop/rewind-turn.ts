import { BobbinError } from '../../core/error/error.ts'
import { Message } from '../../records/message.ts'
import type { EntryOf } from '../../store/entry.ts'
import { askStore } from '../limits/failure.ts'
import { type CallEffect, effectsSince } from '../recovery/effects-since.ts'
import { invalid, userMessage } from './begin-turn.ts'
import type { Submitted, Unspooled } from './queued-input.ts'
import type { Turn } from './turn.ts'

/** Refuses to take back the last message if that cannot be done, or would repeat effects. Nothing has changed then. */
export async function requireRewindable(
  turn: Turn,
  input: Pick<Submitted, 'message' | 'regenerate'> & { readonly attachments?: readonly unknown[] },
): Promise<void> {
  const { log, settings } = turn
  const { seq, redacted } = await lastMessage(turn)
  if (isAgain(input) && redacted !== undefined) {
    throw invalid('message', 'is needed: the last message was not stored whole')
  }
  if (input.regenerate?.redoEffects) return
  const effects = await effectsSince(settings.store, log.id, seq)
  if (effects.length > 0) throw wouldRepeat(log.id, effects)
}

/** Takes the last message back, with all that came after it, and asks it again, or asks another one: in one commit. */
export async function rewindTurn(turn: Turn, input: Unspooled): Promise<void> {
  const { log, settings } = turn
  const entry = await lastMessage(turn)
  const { store } = settings
  const start = await askStore(() => store.get(log.id, 'turn-start', entry.turnId))
  const toTurnId = start?.data.continues ?? entry.turnId
  const message = isAgain(input) ? sameMessage(turn) : await userMessage(turn, input)
  const { lastAgent: agent } = log.state
  const from = { toTurnId, message: entry.data['id'] as string, ...(agent && { agent }) }
  const rewind = { id: settings.ids(), ...from }
  await log.commit([
    { kind: 'rewind', rewind },
    { kind: 'message', message },
  ])
  turn.request.restart()
}

const isAgain = ({ message, attachments = [] }: Pick<Unspooled, 'message'> & Attached) =>
  message === '' && attachments.length === 0

interface Attached {
  readonly attachments?: readonly unknown[]
}

/** The stored message that `regenerate` takes back. */
export async function lastMessage({ log, settings }: Turn): Promise<EntryOf<'message'>> {
  const { lastMessage: last } = log.state
  const entry = last && (await askStore(() => settings.store.get(log.id, 'message', last.id)))
  if (entry !== undefined) return entry
  throw invalid('conversation', 'must have a message of a user that can be asked again')
}

function sameMessage({ log, settings }: Turn): Message {
  const { content, attachments, identity } = log.state.lastMessage as Message
  return new Message({
    id: settings.ids(),
    role: 'user',
    ...(content && { content }),
    attachments: [...attachments],
    identity,
    createdAt: settings.clock.now(),
  })
}

function wouldRepeat(
  conversation: string,
  calls: readonly CallEffect[],
): BobbinError<'E_EFFECTS_WOULD_REPEAT'> {
  const named = calls.map(({ id, tool }) => `\`${tool}\` (${id})`).join(', ')
  const message =
    `Asking again in conversation \`${conversation}\` would skip calls that may have changed something, and may run them ` +
    `a second time: ${named}. Nothing was changed. Pass \`undo: true\` to undo them first, or \`redoEffects: true\` to ask again all the same.`
  return new BobbinError('E_EFFECTS_WOULD_REPEAT', message, { conversation, calls })
}
