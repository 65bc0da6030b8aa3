import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'

/** The facts of a file or folder; a symbolic link is not followed. */
export interface FileFacts {
  readonly kind: 'file' | 'folder' | 'other'
  readonly size: number
  readonly modifiedMs: number
  /** Changes when the file is replaced or written to. */
  readonly version: string
}

/** A file that is open for reading or for appending. */
export interface OpenFile {
  /** Fills `target` from `position`; less than its length only at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>
  /** Appends all of `bytes`. */
  append(bytes: Uint8Array): Promise<void>
  setTime(ms: number): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

/** Every file-system call of the file spool, so that tests can fail or stop at each one. */
export interface FileSystem {
  /** Undefined when there is nothing at `path`. */
  facts(path: string): Promise<FileFacts | undefined>
  /** Makes one folder, readable by its owner alone; false when it is there already. */
  makeFolder(path: string): Promise<boolean>
  /** Makes the folder and those above it; gives the topmost that was not there, if any. */
  makeRoot(path: string): Promise<string | undefined>
  openForReading(path: string): Promise<OpenFile>
  /** Creates a file that must not exist yet, readable by its owner alone. */
  create(path: string): Promise<OpenFile>
  rename(from: string, to: string): Promise<void>
  /** Removes a file; does nothing if it does not exist. */
  remove(path: string): Promise<void>
  /** The names in a folder; none when there is no such folder. */
  list(path: string): Promise<string[]>
  /** Makes renames and removals in a folder durable. */
  syncFolder(path: string): Promise<void>
}

// Windows has neither flag; there, creating a symbolic link needs a privilege.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
const READ = constants.O_RDONLY | NO_FOLLOW
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW

/** The file system of the machine. */
export const nodeFileSystem: FileSystem = {
  async facts(path) {
    const stat = await lstat(path, { bigint: true }).catch(unless('ENOENT', 'ENOTDIR'))
    if (stat === undefined) return undefined
    return {
      kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other',
      size: Number(stat.size),
      modifiedMs: Number(stat.mtimeMs),
      version: `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`,
    }
  },
  async makeFolder(path) {
    return mkdir(path, { mode: 0o700 }).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false
        throw error
      },
    )
  },
  makeRoot: (path) => mkdir(path, { mode: 0o700, recursive: true }),
  async openForReading(path) {
    return openFile(await open(path, READ))
  },
  async create(path) {
    return openFile(await open(path, CREATE, 0o600))
  },
  rename,
  async remove(path) {
    await rm(path, { force: true })
  },
  async list(path) {
    return (await readdir(path).catch(unless('ENOENT', 'ENOTDIR'))) ?? []
  },
  async syncFolder(path) {
    // Windows cannot open a folder for this, and makes renames durable by itself.
    if (process.platform === 'win32') return
    const handle = await open(path, constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
}

function openFile(handle: Awaited<ReturnType<typeof open>>): OpenFile {
  return {
    async read(target, position) {
      let filled = 0
      while (filled < target.length) {
        const rest = target.length - filled
        const { bytesRead } = await handle.read(target, filled, rest, position + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return filled
    },
    async append(bytes) {
      for (let at = 0; at < bytes.length; ) {
        at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten
      }
    },
    setTime: (ms) => handle.utimes(ms / 1000, ms / 1000),
    sync: () => handle.sync(),
    close: () => handle.close(),
  }
}

/** The `code` of a Node error, such as `ENOSPC`. */
export function codeOf(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'unknown'
}

function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (codes.includes(codeOf(error))) return undefined
    throw error
  }
}
