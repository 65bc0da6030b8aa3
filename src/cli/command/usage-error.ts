import { BobbinError } from '../../core/error/error.ts'

/** A mistake on the command line: one sentence that names it, and the way out. */
export function usageError(message: string, command?: string): BobbinError<'E_USAGE'> {
  return new BobbinError('E_USAGE', message, { command })
}
