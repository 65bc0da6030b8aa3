import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isBobbinError } from '../../src/core/error/error.ts'
import { memorySpool } from '../../src/spool/memory-spool.ts'
import type { SpoolInput, SpoolStore } from '../../src/spool/spool-store.ts'
import { fileSpool } from '../../src/stores/fs/file-spool.ts'
import { nodeFileSystem } from '../../src/stores/fs/file-system.ts'
import { type Fault, faultyFileSystem } from './faulty-file-system.ts'

/** Something done to a spool, and what may and must be there afterwards. */
export interface FaultScenario {
  readonly name: string
  /** What is stored, without faults, before the act. */
  readonly before?: readonly string[]
  /** What happens on the faulty file system. */
  act(store: SpoolStore): Promise<unknown>
  /** The contents that may be stored afterwards, each of them whole. */
  readonly mayHold: readonly SpoolInput[]
  /** The contents that must be stored afterwards, whatever happened. */
  readonly mustHold?: readonly string[]
}

/**
 * Runs `scenario` once per file-system call it makes, with `fault` at that call, and asserts that only whole
 * spools can be read afterwards and that the store still works. Gives the number of calls.
 */
export async function proveFaultTolerance(scenario: FaultScenario, fault: Fault): Promise<number> {
  let failAt = 0
  for (; failAt < 2_000; failAt++) {
    const folder = await mkdtemp(join(tmpdir(), 'bobbin-fault-'))
    try {
      const calls = await runOnce(scenario, fault, failAt, folder)
      if (calls <= failAt) return failAt
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  throw new Error(`\`${scenario.name}\` makes more than ${failAt} calls`)
}

async function runOnce(
  scenario: FaultScenario,
  fault: Fault,
  failAt: number,
  folder: string,
): Promise<number> {
  const where = `${scenario.name}, ${JSON.stringify(fault)} at call ${failAt}`
  for (const text of scenario.before ?? []) await fileSpool(folder).write(text)
  const { fs, calls } = faultyFileSystem(nodeFileSystem, failAt, fault)
  const faulty = fileSpool(folder, { fileSystem: fs })
  try {
    await scenario.act(faulty)
  } catch (error) {
    assert.ok(isBobbinError(error), `${where}: ${String(error)}`)
  }
  // The act is over before its turn came: every call has had its fault.
  if (calls() <= failAt) return calls()

  // A killed process is started again; after an error the same store must go on working.
  const store = 'code' in fault ? faulty : fileSpool(folder)
  const allowed = new Map<string, SpoolInput>()
  for (const data of scenario.mayHold) allowed.set(await digestOf(data), data)
  const held: string[] = []
  for await (const digest of store.digests()) {
    assert.ok(allowed.has(digest), `${where}: ${digest} was never written whole`)
    await (await store.read(digest)).verify()
    held.push(digest)
  }
  for (const text of scenario.mustHold ?? []) {
    assert.ok(held.includes(await digestOf(text)), `${where}: lost what was stored`)
  }
  const after = await store.write('written afterwards')
  await after.verify()
  // Whatever an interrupted write left is gone after a sweep without grace.
  await store.sweep(new Set([after.digest]), { graceMs: -60_000 })
  const rest = await nodeFileSystem.list(join(folder, 'shared', 'temporary'))
  assert.deepEqual(rest, [], `${where}: leftovers stay`)
  return calls()
}

async function digestOf(data: SpoolInput): Promise<string> {
  return (await memorySpool().write(data)).digest
}
