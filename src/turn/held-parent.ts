import { isBobbinError } from '../core/error.ts'
import type { Store } from '../store/store.ts'
import { notFound, staleRunner } from '../store/store-errors.ts'
import type { Turn } from './turn.ts'

/**
 * Refuses to work inside a turn that has lost its conversation: it would take the inner one from whoever goes
 * on with it, or leave one behind that nobody deletes.
 */
export async function requireHeld({ settings, conversation }: Turn): Promise<void> {
  const { id, epoch } = conversation
  const around = await settings.store.conversation(id)
  if (around === undefined) throw notFound('conversation', id)
  if (around.epoch !== epoch) throw staleRunner(id, epoch, around.epoch)
}

/** The same once the inner turn has begun, which goes with what was deleted around it meanwhile. */
export async function requireStillHeld(parent: Turn, store: Store, inner: string): Promise<void> {
  try {
    await requireHeld(parent)
  } catch (error) {
    if (isBobbinError(error, 'E_NOT_FOUND')) await store.delete(inner)
    throw error
  }
}
