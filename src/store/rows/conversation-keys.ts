import { BobbinError } from '../../core/error/error.ts'
import { invalidInput } from '../store-errors.ts'
import { envelopeKeyOf, hiddenEnvelope } from './envelope-column.ts'
import { KEY_BYTES, keyCheckOf } from './seal.ts'
import type { ConversationRow } from './store-rows.ts'

type KeyColumns = Pick<ConversationRow, 'key' | 'keyCheck'>

export interface ConversationKeys {
  /** Makes what a new conversation stores: a random key, or only a check of the one given. */
  forNew(given: Uint8Array | undefined): () => KeyColumns
  /** `E_STORE_KEY` if the given key is wrong, or missing although it is not stored. */
  check(row: ConversationRow, given: Uint8Array | undefined): void
  /** Keeps a key that is not stored, while the conversation is held. */
  hold(conversation: string, key: Uint8Array): void
  forget(conversation: string): void
  /** The key of a fork, given or random, and what its row stores of it and of the envelopes of its origin. */
  forFork(
    from: ConversationRow,
    fromKey: Uint8Array | undefined,
    given: Uint8Array | undefined,
  ): { readonly key: Uint8Array; readonly columns: KeyColumns & Pick<ConversationRow, 'envelope'> }
  known(row: ConversationRow): Uint8Array | undefined
  /** The key, or `E_STORE_KEY` when only the application has it. */
  of(row: ConversationRow): Uint8Array
}

/** The keys of conversations: in the database, or in memory only if the application has its own. */
export function conversationKeys(
  randomBytes: (length: number) => Uint8Array = systemRandomBytes,
): ConversationKeys {
  const held = new Map<string, Uint8Array>()
  const known = (row: ConversationRow) => row.key ?? held.get(row.id)
  const forNew: ConversationKeys['forNew'] = (given) => {
    if (given !== undefined) {
      requireKey(given)
      return () => ({ key: null, keyCheck: keyCheckOf(given) })
    }
    return () => {
      const key = new Uint8Array(randomBytes(KEY_BYTES))
      return { key, keyCheck: keyCheckOf(key) }
    }
  }
  const of = (row: ConversationRow) => {
    const key = known(row)
    if (key === undefined) throw wrongKey(row, 'no')
    return new Uint8Array(key)
  }
  return {
    forNew,
    forFork(from, fromKey, given) {
      const columns = forNew(given)()
      const key = given ?? (columns.key as Uint8Array)
      const envelope = hiddenEnvelope(key, envelopeKeyOf(from, fromKey ?? of(from)))
      return { key, columns: { ...columns, envelope } }
    },
    check(row, given) {
      if (given !== undefined) requireKey(given)
      if (given !== undefined && keyCheckOf(given) !== row.keyCheck) throw wrongKey(row, 'another')
      if (given === undefined && row.key === null) throw wrongKey(row, 'no')
    },
    // A copy; `slice` of a Node buffer would share its bytes.
    hold: (conversation, key) => void held.set(conversation, new Uint8Array(key)),
    forget: (conversation) => void held.delete(conversation),
    known,
    of,
  }
}

function requireKey(given: unknown): void {
  const isKey = ArrayBuffer.isView(given) && given.byteLength === KEY_BYTES
  if (!isKey) throw invalidInput('key', `must have ${KEY_BYTES} bytes`)
}

function systemRandomBytes(length: number): Uint8Array {
  return globalThis.crypto.getRandomValues(new Uint8Array(length))
}

function wrongKey(row: ConversationRow, what: 'no' | 'another'): BobbinError<'E_STORE_KEY'> {
  const { id: conversation } = row
  const message =
    `Conversation \`${conversation}\` was started with a key of the application, and ${what} key was ` +
    'given: pass the same `key`, derived from the same secret.'
  return new BobbinError('E_STORE_KEY', message, { conversation })
}
