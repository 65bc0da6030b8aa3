import { BobbinError } from '../core/error/error.ts'

/** Nothing is stored under `digest`. */
export function spoolNotFound(digest: string): BobbinError<'E_SPOOL_NOT_FOUND'> {
  return new BobbinError(
    'E_SPOOL_NOT_FOUND',
    `The spool holds nothing under \`${digest}\`: it was deleted, swept, or written to another store or tenant. Small results of stored records lie in the store: read them with \`storedResults(store)\`.`,
    { digest },
  )
}

/** The bytes stored under `digest` differ from the bytes written; `part` says which part. */
export function spoolCorrupt(digest: string, part: string): BobbinError<'E_SPOOL_CORRUPT'> {
  return new BobbinError(
    'E_SPOOL_CORRUPT',
    `The spool \`${digest}\` is damaged (${part}): its bytes are not the ones that were written. ` +
      'Write the same content again to replace it, or delete it.',
    { digest, part },
  )
}

/** A write would go beyond the quota. */
export function spoolQuota(quota: number, used: number): BobbinError<'E_SPOOL_QUOTA'> {
  return new BobbinError(
    'E_SPOOL_QUOTA',
    `Writing this would exceed the spool's quota of ${quota} bytes (${used} are used). ` +
      'Sweep what is no longer referred to, or raise `quotaBytes`.',
    { quota, used },
  )
}

/** A number of the application's that would silently mean something else. */
export function spoolSetting(path: string, rule: string): BobbinError<'E_INVALID_STORE_INPUT'> {
  return new BobbinError('E_INVALID_STORE_INPUT', `\`${path}\` of the spool ${rule}.`, {
    path,
    rule,
  })
}
