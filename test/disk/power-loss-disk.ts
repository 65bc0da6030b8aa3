import { basename, dirname } from 'node:path'
import type { FileSystem, OpenFile } from '../../src/stores/fs/file-system.ts'

interface File {
  readonly kind: 'file'
  bytes: Uint8Array
  /** What survives for sure. */
  synced: Uint8Array
  modifiedMs: number
  version: number
}

interface Folder {
  readonly kind: 'folder'
  readonly names: Map<string, File | Folder>
  /** The names that survive for sure. */
  synced: ReadonlyMap<string, File | Folder>
}

/** What becomes of something that was changed and not synced when the power goes. */
export type Loss = (what: 'name' | 'bytes') => 'lost' | 'torn' | 'kept'

/** A disk in memory that knows what was synced, and so what a loss of power may take away. */
export interface PowerLossDisk {
  readonly fs: FileSystem
  /** The disk as it may be found afterwards; `loss` decides on each change that was not synced. */
  afterPowerLoss(loss: Loss): PowerLossDisk
}

/**
 * The strictest reading of the rules: bytes survive once their file was synced, a name, its removal or its
 * renaming once its folder was. Anything else may be there, be there in part, or not be there, each
 * change by itself.
 */
export function powerLossDisk(root: Folder = folder()): PowerLossDisk {
  const fail = (code: string) => Object.assign(new Error(code), { code })
  const find = (path: string): File | Folder | undefined => {
    let at: File | Folder | undefined = root
    for (const name of path.split('/').filter((part) => part !== '')) {
      at = at?.kind === 'folder' ? at.names.get(name) : undefined
    }
    return at
  }
  const folderAt = (path: string): Folder => {
    const found = find(path)
    if (found?.kind !== 'folder') throw fail('ENOENT')
    return found
  }
  const makeFolder = (path: string): boolean => {
    const { names } = folderAt(dirname(path))
    if (names.has(basename(path))) return false
    names.set(basename(path), folder())
    return true
  }
  const fs: FileSystem = {
    async facts(path) {
      const found = find(path)
      if (found === undefined) return undefined
      if (found.kind === 'folder') return { kind: 'folder', size: 0, modifiedMs: 0, version: '0' }
      const { bytes, modifiedMs, version } = found
      return { kind: 'file', size: bytes.length, modifiedMs, version: String(version) }
    },
    makeFolder: async (path) => makeFolder(path),
    async makeRoot(path) {
      const parts = path.split('/').filter((part) => part !== '')
      const paths = parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)
      return paths.filter((each) => makeFolder(each))[0]
    },
    async create(path) {
      const { names } = folderAt(dirname(path))
      if (names.has(basename(path))) throw fail('EEXIST')
      const none = new Uint8Array()
      const file: File = { kind: 'file', bytes: none, synced: none, modifiedMs: 0, version: 0 }
      names.set(basename(path), file)
      return openFile(file)
    },
    async openForReading(path) {
      const found = find(path)
      if (found?.kind !== 'file') throw fail('ENOENT')
      return openFile(found)
    },
    async rename(from, to) {
      const source = folderAt(dirname(from)).names
      const moved = source.get(basename(from))
      if (moved === undefined) throw fail('ENOENT')
      folderAt(dirname(to)).names.set(basename(to), moved)
      source.delete(basename(from))
    },
    async remove(path) {
      const parent = find(dirname(path))
      if (parent?.kind === 'folder') parent.names.delete(basename(path))
    },
    async list(path) {
      const found = find(path)
      return found?.kind === 'folder' ? [...found.names.keys()] : []
    },
    async syncFolder(path) {
      const found = folderAt(path)
      found.synced = new Map(found.names)
    },
  }
  return { fs, afterPowerLoss: (loss) => powerLossDisk(survivor(root, loss)) }
}

function folder(names: ReadonlyMap<string, File | Folder> = new Map()): Folder {
  return { kind: 'folder', names: new Map(names), synced: new Map(names) }
}

function openFile(file: File): OpenFile {
  return {
    async read(target, position) {
      const part = file.bytes.subarray(position, position + target.length)
      target.set(part)
      return part.length
    },
    async append(bytes) {
      const longer = new Uint8Array(file.bytes.length + bytes.length)
      longer.set(file.bytes)
      longer.set(bytes, file.bytes.length)
      file.bytes = longer
      file.version++
    },
    async setTime(ms) {
      file.modifiedMs = ms
    },
    async sync() {
      file.synced = file.bytes
    },
    close: async () => {},
  }
}

function survivor({ names, synced }: Folder, loss: Loss): Folder {
  const found = new Map<string, File | Folder>()
  for (const name of new Set([...names.keys(), ...synced.keys()])) {
    const isSafe = names.get(name) === synced.get(name)
    const there = (isSafe || loss('name') === 'kept' ? names : synced).get(name)
    if (there === undefined) continue
    found.set(name, there.kind === 'folder' ? survivor(there, loss) : survivingFile(there, loss))
  }
  return folder(found)
}

function survivingFile({ bytes, synced, modifiedMs }: File, loss: Loss): File {
  const fate = bytes === synced ? 'kept' : loss('bytes')
  const left = fate === 'kept' ? bytes : fate === 'lost' ? synced : torn(bytes, synced)
  return { kind: 'file', bytes: left, synced: left, modifiedMs, version: 1 }
}

/** The length of the new bytes with only some of them in it. */
function torn(bytes: Uint8Array, synced: Uint8Array): Uint8Array {
  const left = new Uint8Array(bytes.length)
  left.set(synced.subarray(0, bytes.length))
  const grown = bytes.length - synced.length
  left.set(bytes.subarray(synced.length, synced.length + (grown >> 1)), synced.length)
  return left
}
