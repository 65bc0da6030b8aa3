import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Store } from '../../src/store/store.ts'
import { fileSpool } from '../../src/stores/fs/file-spool.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import type { Executor } from '../../src/turn/executor/executor.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type PowerLossDisk, powerLossDisk } from '../disk/power-loss-disk.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-power-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The disk and the world at one moment. */
interface Image {
  readonly label: string
  readonly path: string
  /** The write-ahead log as it was then; everything in it was synced if an append had just resolved. */
  readonly log: Buffer
  /** What of the spool had been synced; everything else is lost. */
  readonly spool: PowerLossDisk
  readonly effects: readonly string[]
  /** Calls whose settlement was acknowledged by then. */
  readonly settled: readonly string[]
}

const BATCHES = [['charge'], ['put', 'charge', 'report'], ['report', 'put'], ['charge', 'charge']]

const script: Executor = async ({ items }) => {
  const made = items.filter(({ type }) => type === 'call').length
  let before = 0
  for (const batch of BATCHES) {
    if (made === before) {
      return { calls: batch.map((tool, at) => ({ id: `call_${before + at}`, tool, args: {} })) }
    }
    before += batch.length
  }
  return { answer: 'done' }
}

/** The tools of the turn; each tells the world what it does. */
function toolsFor(effects: string[], passed: (label: string) => void) {
  const tool = (name: string, effect: 'read' | 'idempotent' | 'write', size: number) =>
    new Tool({
      name,
      description: `Does ${name}.`,
      inputSchema: z.object({}),
      effect,
      trust: 'first-party',
      handler: async (_, { toolCallId }) => {
        passed(`before ${toolCallId}`)
        if (effect !== 'read') effects.push(toolCallId ?? '')
        passed(`after ${toolCallId}`)
        return `${name} is done\n`.repeat(size)
      },
    })
  return [
    tool('charge', 'write', 1),
    tool('put', 'idempotent', 100),
    tool('report', 'read', 20_000),
  ]
}

/** Runs the turn to its end and keeps the disk of every moment at which something was about to change. */
async function filmed(): Promise<readonly Image[]> {
  const live = join(folder, 'live')
  const disk = powerLossDisk()
  const store = sqliteStore(join(live, 'agent.db'), { spool: spoolOn(disk) })
  const images: Image[] = []
  const effects: string[] = []
  const settled: string[] = []
  const shoot = (label: string) => {
    const path = join(folder, `image-${images.length}`)
    cpSync(live, path, { recursive: true })
    const logPath = join(path, 'agent.db-wal')
    const log = existsSync(logPath) ? readFileSync(logPath) : Buffer.alloc(0)
    const spool = disk.afterPowerLoss(() => 'lost')
    images.push({ label, path, log, spool, effects: [...effects], settled: [...settled] })
  }
  const watched: Store = {
    ...store,
    async append(conversation, epoch, entries, blobs) {
      const stored = await store.append(conversation, epoch, entries, blobs)
      for (const { kind, data } of entries) {
        if (kind === 'settlement') settled.push((data as { id: string }).id)
      }
      shoot(`after ${entries.map(({ kind }) => kind).join()}`)
      return stored
    },
  }
  cpSync(mkdtempSync(join(folder, 'empty-')), live, { recursive: true })
  const runner = new TurnRunner({
    store: watched,
    tools: toolsFor(effects, shoot),
    executor: script,
  })
  expect(await runner.run({ conversation: 'c', message: 'Go.' })).toMatchObject({ text: 'done' })
  await store.close()
  return images
}

const spoolOn = ({ fs }: PowerLossDisk) => fileSpool('/spool', { fileSystem: fs })

/** Bytes that a dying disk may leave behind. */
const garbage = (length: number) =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + 7) % 251))

/** Starts from a disk image as a machine does after the power came back. Gives what went wrong. */
async function comeBack(image: Image, log: Buffer, name: string): Promise<string[]> {
  const path = join(folder, name)
  cpSync(image.path, path, { recursive: true })
  rmSync(join(path, 'agent.db-shm'), { force: true })
  writeFileSync(join(path, 'agent.db-wal'), log)
  const spool = spoolOn(image.spool.afterPowerLoss(() => 'kept'))
  const store = sqliteStore(join(path, 'agent.db'), { spool })
  const effects = [...image.effects]
  const runner = new TurnRunner({ store, tools: toolsFor(effects, () => {}), executor: script })
  const first = await runner.recover({ conversation: 'c', force: true })
  const outcome =
    first.reason?.code === 'NOTHING_LEFT'
      ? await runner.run({ conversation: 'c', message: 'Go.' })
      : first
  const problems: string[] = []
  if (outcome.text !== 'done') problems.push(`${outcome.status}: ${outcome.reason?.message}`)
  const settlements = await store.find({ conversation: 'c', kind: 'settlement' })
  const calls = settlements.entries.map(({ entry }) => entry.data as { id: string; tool: string })
  for (const id of image.settled) {
    if (!calls.some((call) => call.id === id)) problems.push(`the record of ${id} is lost`)
    const times = (list: readonly string[]) => list.filter((each) => each === id).length
    if (times(effects) !== times(image.effects)) problems.push(`${id} ran again`)
  }
  for (const { id, tool } of calls) {
    const times = effects.filter((each) => each === id).length
    if (tool === 'charge' && times > 1) problems.push(`${id} took effect ${times} times`)
  }
  if (calls.length !== BATCHES.flat().length) problems.push(`${calls.length} calls are settled`)
  const report = await store.verify({ conversation: 'c' })
  problems.push(...report.faults.map(({ message }) => message))
  await store.close()
  rmSync(path, { recursive: true })
  return problems.map((problem) => `${image.label}, ${name}: ${problem}`)
}

describe('a turn, after the power went', () => {
  it('goes on from the disk of any moment, wherever the unsynced part is torn', async () => {
    const images = await filmed()
    const problems: string[] = []
    let cases = 0
    for (const [index, image] of images.entries()) {
      const next = images[index + 1]?.log ?? image.log
      const grown = Math.max(0, next.length - image.log.length)
      const torn = [0.2, 0.6, 0.99].map((share) =>
        next.subarray(0, image.log.length + Math.floor(grown * share)),
      )
      const tails = [image.log, ...torn, Buffer.concat([image.log, garbage(9000)])]
      for (const log of tails) problems.push(...(await comeBack(image, log, `case-${++cases}`)))
    }
    expect(problems).toEqual([])
    expect(cases).toBeGreaterThan(100)
  })
})
