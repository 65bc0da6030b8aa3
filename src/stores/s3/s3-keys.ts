import { sha256Hex } from '#hash'
import { BobbinError } from '../../core/error/error.ts'

/**
 * Where the objects of one tenant are. After the prefix, every key is made of hexadecimal digits and our own words,
 * so that no id, tenant or digest can lead elsewhere.
 */
export interface SpoolKeys {
  /** Every key of this tenant begins with it. */
  readonly own: string
  /** Unfinished writes; the rest of the key is the time of its start and an id. */
  readonly temporary: string
  blob(digest: string): string
  lines(digest: string): string
  /** Lies there while a sweep removes the spool. */
  mark(digest: string): string
}

/** Lays out the keys of a tenant. */
export function spoolKeys(prefix: string | undefined, tenant: string | undefined): SpoolKeys {
  const own = `${prefixOf(prefix)}${tenantName(tenant)}/`
  const key = (digest: string, part: Part) => `${own}${digest.slice(0, 2)}/${digest}.${part}`
  return {
    own,
    temporary: `${own}temporary/`,
    blob: (digest) => key(digest, 'blob'),
    lines: (digest) => key(digest, 'lines'),
    mark: (digest) => key(digest, 'swept'),
  }
}

type Part = 'blob' | 'lines' | 'swept'

/** The digest in a key of ours, and which of its objects it is. */
export function parseKey(
  keys: SpoolKeys,
  key: string,
): { readonly digest: string; readonly part: Part } | undefined {
  const match = /^([0-9a-f]{2})\/(\1[0-9a-f]{62})\.(blob|lines|swept)$/.exec(
    key.slice(keys.own.length),
  )
  return match?.[2] === undefined || !key.startsWith(keys.own)
    ? undefined
    : { digest: match[2], part: match[3] as Part }
}

/** A new key for a write, with the time of its start: a list does not show metadata. */
export function temporaryKey(keys: SpoolKeys, now: number, id: string): string {
  return `${keys.temporary}${Math.floor(now)}-${sha256Hex(id).slice(0, 32)}`
}

/** When the write of a temporary key began; undefined for a key that is not ours. */
export function startOfWrite(keys: SpoolKeys, key: string): number | undefined {
  const match = /^(\d{1,16})-[0-9a-f]{32}$/.exec(key.slice(keys.temporary.length))
  return key.startsWith(keys.temporary) && match !== null ? Number(match[1]) : undefined
}

function prefixOf(prefix: unknown = ''): string {
  const isPath = typeof prefix === 'string' && prefix.length <= 500 && /^[\w.\-/]*$/.test(prefix)
  const rule =
    'at most 500 letters, digits and `_ - . /`, without empty parts, `.` or `..` between the slashes'
  if (!isPath) throw invalidName('prefix', rule)
  const parts = prefix.replace(/^\/|\/$/g, '').split('/')
  if (prefix === '') return ''
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw invalidName('prefix', rule)
  }
  return `${parts.join('/')}/`
}

/** A tenant's name is never part of a key: only its hash is. */
function tenantName(tenant: unknown): string {
  if (tenant === undefined) return 'shared'
  // Two names with lone surrogates could have one UTF-8 form, and so one folder.
  if (typeof tenant !== 'string' || tenant === '' || !tenant.isWellFormed()) {
    throw invalidName('tenant', 'a non-empty string of well-formed Unicode')
  }
  return `tenant-${sha256Hex(tenant).slice(0, 40)}`
}

function invalidName(name: string, rule: string): BobbinError<'E_SPOOL_INVALID_NAME'> {
  const message = `\`${name}\` of \`s3Spool\` must be ${rule}.`
  return new BobbinError('E_SPOOL_INVALID_NAME', message, { name, rule })
}
