import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import { codeOf, type FileSystem, type OpenFile } from './file-system.ts'

/** The file system for writes and removals: whatever it refuses becomes `E_SPOOL_WRITE_FAILED`. */
export function forWriting(fs: FileSystem): FileSystem {
  return typed(fs, (cause) => {
    const reason = codeOf(cause)
    return new BobbinError(
      'E_SPOOL_WRITE_FAILED',
      `The file system refused to change the spool (${reason}). Existing content is unchanged. ` +
        (WAY_OUT[reason] ?? 'See `cause` for what the file system said.'),
      { reason },
      { cause },
    )
  })
}

/** The file system for a read: whatever it refuses becomes `E_SPOOL_READ_FAILED`. */
export function forReading(fs: FileSystem): FileSystem {
  return typed(fs, (cause) => {
    const reason = codeOf(cause)
    return new BobbinError(
      'E_SPOOL_READ_FAILED',
      `The file system refused to read the spool (${reason}). ` +
        (WAY_OUT[reason] ?? 'See `cause` for what the file system said.'),
      { reason },
      { cause },
    )
  })
}

const WAY_OUT: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space, or sweep the spool.',
  EDQUOT: 'The disk quota is used up: free some space, or sweep the spool.',
  EROFS: 'The disk is read-only: choose another folder.',
  EACCES: 'The process may not use this folder: check its owner and mode.',
  EMFILE: 'Too many files are open: raise the limit, or write fewer spools at once.',
  ENFILE: 'Too many files are open on this machine.',
  ELOOP: 'A symbolic link is in the way, and a spool follows none.',
}

type Translate = (cause: unknown) => BobbinError

function typed(fs: FileSystem, translate: Translate): FileSystem {
  return {
    facts: translating(fs.facts, translate),
    makeFolder: translating(fs.makeFolder, translate),
    makeRoot: translating(fs.makeRoot, translate),
    rename: translating(fs.rename, translate),
    remove: translating(fs.remove, translate),
    list: translating(fs.list, translate),
    syncFolder: translating(fs.syncFolder, translate),
    openForReading: opening(fs.openForReading, translate),
    create: opening(fs.create, translate),
  }
}

function opening(open: (path: string) => Promise<OpenFile>, translate: Translate) {
  const translated = translating(open, translate)
  return async (path: string): Promise<OpenFile> => {
    const file = await translated(path)
    return {
      read: translating(file.read, translate),
      append: translating(file.append, translate),
      setTime: translating(file.setTime, translate),
      sync: translating(file.sync, translate),
      close: translating(file.close, translate),
    }
  }
}

function translating<Args extends unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
  translate: Translate,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await call(...args)
    } catch (cause) {
      throw isBobbinError(cause) ? cause : translate(cause)
    }
  }
}
