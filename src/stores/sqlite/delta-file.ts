import { createHash } from 'node:crypto'
import { appendFile, type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** How often a reader looks for new lines. */
const LOOK_MS = 50
/** How much of a file is read at a time. */
const CHUNK = 256 * 1024

/** The files that carry what streams to other processes: one for each conversation that is followed, a batch a line. */
export interface DeltaFiles {
  pathOf(conversation: string): string
  append(conversation: string, batch: string): Promise<void>
  remove(conversation: string): Promise<void>
}

export function deltaFiles(folder: string): DeltaFiles {
  const pathOf = (conversation: string) =>
    join(folder, createHash('sha256').update(conversation).digest('hex'))
  return {
    pathOf,
    async append(conversation, batch) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await appendFile(pathOf(conversation), `${batch}\n`, { mode: 0o600 })
    },
    remove: (conversation) => rm(pathOf(conversation), { force: true }),
  }
}

/** Gives every whole line of a file from its beginning, and an empty one when the file is gone: its turn has ended. */
export function tailFile(path: string, onLine: (line: string) => void): () => Promise<void> {
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let reading = Promise.resolve()
  let at: { readonly ino: number; offset: number; rest: Buffer } | undefined

  const look = async () => {
    const found = await stat(path).catch(() => undefined)
    if (
      at !== undefined &&
      (found === undefined || found.ino !== at.ino || found.size < at.offset)
    ) {
      at = undefined
      onLine('')
    }
    if (found === undefined) return
    at ??= { ino: found.ino, offset: 0, rest: Buffer.alloc(0) }
    if (found.size === at.offset) return
    const file = await open(path).catch(() => undefined)
    if (file === undefined) return
    try {
      await readOn(file, at)
    } finally {
      await file.close()
    }
  }
  const readOn = async (file: FileHandle, place: NonNullable<typeof at>) => {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, place.offset)
      if (bytesRead === 0) return
      place.offset += bytesRead
      place.rest = Buffer.concat([place.rest, buffer.subarray(0, bytesRead)])
      for (let end = place.rest.indexOf(10); end !== -1; end = place.rest.indexOf(10)) {
        onLine(place.rest.toString('utf8', 0, end))
        place.rest = place.rest.subarray(end + 1)
      }
    }
  }
  const again = () => {
    if (isOver) return
    timer = setTimeout(() => {
      reading = look()
        .catch(() => undefined)
        .then(again)
    }, LOOK_MS)
    timer.unref()
  }
  reading = look()
    .catch(() => undefined)
    .then(again)

  return async () => {
    isOver = true
    clearTimeout(timer)
    await reading
  }
}
