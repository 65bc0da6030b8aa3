import type { FileSystem, OpenFile } from '../../src/stores/fs/file-system.ts'

/** What happens at the chosen call. */
export type Fault =
  /** The call fails with this code, later ones work: a full or read-only disk, too many files. */
  | { readonly kind: 'error'; readonly code: string }
  /** As `error`, but the call takes effect first; an append only half, as on a disk that fills up. */
  | { readonly kind: 'error-after'; readonly code: string }
  /** The call and every later one never happen: the process was killed. */
  | { readonly kind: 'kill' }
  /** As `kill`, but the call takes effect first; an append only half. */
  | { readonly kind: 'kill-after' }

/** A file system that counts its calls and fails at one of them, for proofs of what a crash leaves. */
export function faultyFileSystem(
  inner: FileSystem,
  failAt: number,
  fault: Fault,
): { readonly fs: FileSystem; calls(): number } {
  let calls = 0
  let dead = false

  const guard =
    <Args extends unknown[], R>(call: (...args: Args) => Promise<R>) =>
    async (...args: Args): Promise<R> => {
      if (dead) throw new Error('the process was killed')
      if (calls++ !== failAt) return call(...args)
      dead = fault.kind === 'kill' || fault.kind === 'kill-after'
      if (fault.kind === 'kill-after' || fault.kind === 'error-after') {
        const result: unknown = await call(...(args.map(halved) as Args))
        await (result as Partial<OpenFile> | undefined)?.close?.().catch(() => undefined)
      }
      if (dead) throw new Error('the process was killed')
      throw Object.assign(new Error(fault.kind), 'code' in fault && { code: fault.code })
    }

  const guardFile = (file: OpenFile): OpenFile => ({
    read: guard(file.read),
    append: guard(file.append),
    setTime: guard(file.setTime),
    sync: guard(file.sync),
    // Really closed in any case: a dead process holds no descriptor either.
    async close() {
      await file.close()
      await guard(async () => {})()
    },
  })

  return {
    calls: () => calls,
    fs: {
      facts: guard(inner.facts),
      makeFolder: guard(inner.makeFolder),
      makeRoot: guard(inner.makeRoot),
      rename: guard(inner.rename),
      remove: guard(inner.remove),
      list: guard(inner.list),
      syncFolder: guard(inner.syncFolder),
      openForReading: guard(async (path) => guardFile(await inner.openForReading(path))),
      create: guard(async (path) => guardFile(await inner.create(path))),
    },
  }
}

function halved(argument: unknown): unknown {
  return argument instanceof Uint8Array
    ? argument.subarray(0, Math.ceil(argument.length / 2))
    : argument
}
