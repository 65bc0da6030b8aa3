import { BobbinError } from '../core/error/error.ts'

/** Says what departed from a test's script. */
export function scriptError(who: string, problems: readonly string[]): BobbinError<'E_SCRIPT'> {
  const message = `${who} was not followed: ${problems.join('; ')}. Correct the script, or what it drives.`
  return new BobbinError('E_SCRIPT', message, { problems })
}
