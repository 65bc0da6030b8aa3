import { writeSync } from 'node:fs'
import type { SpoolStore } from '../../src/spool/spool-store.ts'
import type { NewEntry } from '../../src/store/entry.ts'
import type { Store } from '../../src/store/store.ts'

/** Tells the process that watches this one, so that the line is out before whatever comes next. */
export function tell(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

/** Counts the places where this process may die, and dies at the one it was told. */
export function killPoints(killAt: number) {
  const passed: string[] = []
  return {
    passed,
    pass(label: string): void {
      passed.push(label)
      if (passed.length !== killAt) return
      tell({ event: 'dies', label })
      process.kill(process.pid, 'SIGKILL')
      // Nothing of this process runs on while the signal is on its way.
      for (;;);
    },
  }
}

export type KillPoints = ReturnType<typeof killPoints>

/** A store that passes a point before and after everything that it makes durable. */
export function mortalStore(store: Store, { pass }: KillPoints): Store {
  async function around<T>(label: string, act: () => Promise<T>): Promise<T> {
    pass(`before ${label}`)
    const result = await act()
    pass(`after ${label}`)
    return result
  }
  return {
    ...store,
    ...(store.spool && { spool: mortalSpool(store.spool, around) }),
    acquire: (...args) => around(`acquire ${args[0]}`, () => store.acquire(...args)),
    release: (...args) => around('release', () => store.release(...args)),
    decideGate: (...args) => around('decideGate', () => store.decideGate(...args)),
    append: (...args) =>
      around(`append ${args[0]} ${args[2].map(nameOf).join()}`, () => store.append(...args)),
  }
}

type Around = <T>(label: string, act: () => Promise<T>) => Promise<T>

const mortalSpool = (spool: SpoolStore, around: Around): SpoolStore => ({
  ...spool,
  durable: spool.durable,
  read: (digest) => spool.read(digest),
  delete: (digest) => spool.delete(digest),
  write: (data, options) => around('write', () => spool.write(data, options)),
})

/** An entry as a word: which kind, of which call, who said it, how it ended. */
export function nameOf({ kind, data }: NewEntry): string {
  const { id, role, status } = data as Record<string, string | undefined>
  const detail = id?.startsWith('call_') ? id : (role ?? status)
  return detail === undefined ? kind : `${kind} ${detail}`
}
