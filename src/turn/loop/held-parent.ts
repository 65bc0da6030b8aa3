import { isBobbinError } from '../../core/error/error.ts'
import type { RunnerStore } from '../../store/store.ts'
import { notFound, staleRunner } from '../../store/store-errors.ts'
import type { OuterTurn } from '../call/inner-turn.ts'

/**
 * Refuses to work inside a turn that has lost its conversation: the inner conversation belongs to its new runner, or is
 * deleted with it.
 */
export async function requireHeld({ settings, origin, epoch }: OuterTurn): Promise<void> {
  const { conversation: id } = origin
  const around = await settings.store.conversation(id)
  if (around === undefined) throw notFound('conversation', id)
  if (around.epoch !== epoch) throw staleRunner(id, epoch, around.epoch)
}

/** The same after the inner turn has started. If the outer conversation was deleted meanwhile, the inner one is too. */
export async function requireStillHeld(
  parent: OuterTurn,
  store: RunnerStore,
  inner: string,
): Promise<void> {
  try {
    await requireHeld(parent)
  } catch (error) {
    if (isBobbinError(error, 'E_NOT_FOUND')) await store.delete(inner)
    throw error
  }
}
