// The last turn of a conversation that needs summaries, in a process that dies where it is told. `test/deep/compaction.test.ts` starts it.
import { lastTurn } from '../compaction/dying.ts'
import { killPoints, mortalStore, tell } from './kill-points.ts'
import { storeAt } from './store-at.ts'

/** What the process is told on its command line, as JSON. */
export interface CompactTask {
  readonly path: string
  /** The point at which it dies; 0 lets it live. */
  readonly killAt: number
}

const { path, killAt } = JSON.parse(process.argv[2] ?? '') as CompactTask
const points = killPoints(killAt)
const own = storeAt({ path })
const problems: string[] = []
await lastTurn({ store: mortalStore(own, points), pass: points.pass, problems })
await own.close()
tell({ event: 'played', passed: points.passed, problems })
