// Submits one turn many times at once. `submit-processes.test.ts` starts it twice.
import { setTimeout as sleep } from 'node:timers/promises'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { tell } from './kill-points.ts'
import { type StorePlace, storeAt } from './store-at.ts'

/** What the process is told on its command line, as JSON. */
export interface SubmitTask {
  readonly place: StorePlace
  readonly times: number
  /** When to begin, in milliseconds since 1970: both processes are up then. */
  readonly at: number
}

const { place, times, at } = JSON.parse(process.argv[2] ?? '') as SubmitTask
const store = storeAt(place)
const model = scriptedModel(Array.from({ length: times }, () => [{ text: 'once' }]))
const runner = new TurnRunner({ store, model })
await sleep(Math.max(0, at - Date.now()))
const input = { conversation: 'c', message: 'go', turnId: 't' }
const outcomes = await Promise.all(Array.from({ length: times }, () => runner.run(input)))
const texts = outcomes.map(({ status, turnId, text }) => `${status} ${turnId} ${text}`)
tell({ event: 'outcomes', texts, modelCalls: model.requests.length })
await store.close()
