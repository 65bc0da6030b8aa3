// Dies while a response is in flight. `kept-responses.test.ts` starts it.
import OpenAI from 'openai'
import { openaiResponses } from '../../src/providers/openai/index.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { storeAt } from './store-at.ts'

/** What the process is told on its command line, as JSON. */
export interface KeptTask {
  readonly url: string
  readonly path: string
}

const { url, path } = JSON.parse(process.argv[2] ?? '') as KeptTask
const store = storeAt({ path })
const client = new OpenAI({ apiKey: 'x', baseURL: url, maxRetries: 0 })
const params = { background: true, store: true }
const runner = new TurnRunner({
  store,
  model: openaiResponses({ client, model: 'gpt-5.6', params }),
  instructions: 'Be brief.',
})
runner.on('message', async () => {
  const { entries } = await store.find({ kind: 'model-call' })
  // The server sends another piece every few milliseconds, so that this is asked again.
  if (entries.length > 0) process.kill(process.pid, 'SIGKILL')
})
await runner.run({ conversation: 'c', message: 'go' })
