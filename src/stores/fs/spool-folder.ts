import { dirname, join, resolve } from 'node:path'
import { sha256Hex } from '#hash'
import { BobbinError } from '../../core/error/error.ts'
import type { FileSystem } from './file-system.ts'

const BLOB = '.blob'
const LINES = '.lines'

/**
 * Where the files of one tenant are. Every name below the root is made of hexadecimal digits and our own
 * words, so that no id, tenant or digest can lead outside.
 */
export interface SpoolFolder {
  readonly root: string
  readonly tenant: string
  /** Unfinished writes. */
  readonly temporary: string
  /** The folders whose own names this process has synced: a name that was made is not there for sure. */
  readonly synced: Set<string>
  /** The folder of the spools whose digest begins like this one. */
  shard(digest: string): string
  blob(digest: string): string
  lines(digest: string): string
}

/** Lays out `folder` for a tenant; nothing is touched yet. */
export function spoolFolder(folder: string, tenant: string | undefined): SpoolFolder {
  if (typeof folder !== 'string' || folder === '' || folder.includes('\0')) {
    throw invalidName('folder', 'a non-empty path without NUL')
  }
  const root = resolve(folder)
  const own = join(root, tenantName(tenant))
  const shard = (digest: string) => join(own, digest.slice(0, 2))
  return {
    root,
    tenant: own,
    temporary: join(own, 'temporary'),
    synced: new Set(),
    shard,
    blob: (digest) => join(shard(digest), digest + BLOB),
    lines: (digest) => join(shard(digest), digest + LINES),
  }
}

/** The digest in a file name of ours, and which of the two files it is. */
export function parseFileName(
  name: string,
  shard: string,
): { readonly digest: string; readonly part: 'blob' | 'lines' } | undefined {
  const match = /^([0-9a-f]{64})\.(blob|lines)$/.exec(name)
  if (match?.[1] === undefined || !match[1].startsWith(shard)) return undefined
  return { digest: match[1], part: match[2] === 'blob' ? 'blob' : 'lines' }
}

/** True for the name of a folder that `shard` gives. */
export function isShardName(name: string): boolean {
  return /^[0-9a-f]{2}$/.test(name)
}

/** A tenant's name is never a path: only its hash is. */
function tenantName(tenant: string | undefined): string {
  if (tenant === undefined) return 'shared'
  // Two names with lone surrogates could have one UTF-8 form, and so one folder.
  if (typeof tenant !== 'string' || tenant === '' || !tenant.isWellFormed()) {
    throw invalidName('tenant', 'a non-empty string of well-formed Unicode')
  }
  return `tenant-${sha256Hex(tenant).slice(0, 40)}`
}

/** Makes the root and what is above it, so that its name survives a loss of power. */
export async function ensureRoot(fs: FileSystem, { root, synced }: SpoolFolder): Promise<void> {
  const topmost = await fs.makeRoot(root)
  if (topmost === undefined && synced.has(root)) return
  for (let made = root; ; made = dirname(made)) {
    // A folder that others made may lie in one that this process must not read; syncing it was up to them.
    await fs.syncFolder(dirname(made)).catch((error: unknown) => {
      if (topmost !== undefined) throw error
    })
    if (topmost === undefined || made === topmost || made === dirname(made)) break
  }
  synced.add(root)
}

/**
 * Makes a folder below the root and refuses one that is a symbolic link or anything else. Its name is synced
 * even if another process has just made it: that process may not have synced it yet, or may have died.
 */
export async function ensureFolder(
  fs: FileSystem,
  path: string,
  { synced }: SpoolFolder,
): Promise<void> {
  const isThere = await folderExists(fs, path)
  if (isThere && synced.has(path)) return
  // Another process was faster; check that it made a folder.
  if (!isThere && !(await fs.makeFolder(path))) await folderExists(fs, path)
  await fs.syncFolder(dirname(path))
  synced.add(path)
}

/** False when there is nothing; throws when what is there is not a folder of its own. */
export async function folderExists(fs: FileSystem, path: string): Promise<boolean> {
  const facts = await fs.facts(path)
  if (facts === undefined) return false
  if (facts.kind === 'folder') return true
  throw invalidName(path, 'a folder, and not a symbolic link: a spool follows none below its root')
}

function invalidName(name: string, rule: string): BobbinError<'E_SPOOL_INVALID_NAME'> {
  return new BobbinError(
    'E_SPOOL_INVALID_NAME',
    `The spool cannot use \`${name}\`: it must be ${rule}.`,
    { name, rule },
  )
}
