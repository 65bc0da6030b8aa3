import { BobbinError } from '../core/error/error.ts'

/** The conversation, or a part of it, does not exist. */
export function notFound(
  what: 'conversation' | 'turn' | 'gate' | 'grant' | 'model call',
  id: string,
): BobbinError<'E_NOT_FOUND'> {
  return new BobbinError(
    'E_NOT_FOUND',
    `The store has no ${what} \`${id}\`: it was deleted, or belongs to another store.`,
    { what, id },
  )
}

/** The name of a new conversation is taken. */
export function conversationExists(conversation: string): BobbinError<'E_CONVERSATION_EXISTS'> {
  const message = `Conversation \`${conversation}\` is there already: delete it, or choose another name.`
  return new BobbinError('E_CONVERSATION_EXISTS', message, { conversation })
}

/** The conversation has passed to another holder. */
export function staleRunner(
  conversation: string,
  epoch: number,
  current: number,
): BobbinError<'E_STALE_RUNNER'> {
  return new BobbinError(
    'E_STALE_RUNNER',
    `Epoch ${epoch} of conversation \`${conversation}\` is over, ${current} is current: another runner ` +
      'has taken the conversation. Nothing was stored; stop this turn.',
    { conversation, epoch, current },
  )
}

/** A gate does not allow the change. */
export function gateState(
  gate: string,
  state: string,
  wanted: string,
  why: string,
): BobbinError<'E_GATE_STATE'> {
  return new BobbinError(
    'E_GATE_STATE',
    `Gate \`${gate}\` is ${state} and cannot become ${wanted}: ${why}.`,
    { gate, state, wanted },
  )
}

/** A grant no longer covers the call that was to use it. */
export function grantState(grant: string, state: string): BobbinError<'E_GRANT_STATE'> {
  return new BobbinError(
    'E_GRANT_STATE',
    `Grant \`${grant}\` is ${state}, so it covers no call. Nothing was stored; ask for approval instead.`,
    { grant, state },
  )
}

/** A stored record has changed. */
export function storeCorrupt(where: string, reason: string): BobbinError<'E_STORE_CORRUPT'> {
  return new BobbinError(
    'E_STORE_CORRUPT',
    `${where} is damaged: ${reason}. Run \`verify\` to see what else is, and restore a backup.`,
    { where, reason },
  )
}

/** Input of the store has a wrong form. */
export function invalidInput(path: string, rule: string): BobbinError<'E_INVALID_STORE_INPUT'> {
  return new BobbinError('E_INVALID_STORE_INPUT', `\`${path}\` ${rule}.`, { path, rule })
}
