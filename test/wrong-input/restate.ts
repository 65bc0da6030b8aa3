import { restateAgent, restateClient } from '../../src/restate/index.ts'
import { memorySpool } from '../../src/spool/memory-spool.ts'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type WayIn, way } from './values.ts'

const engine = { ingress: 'http://127.0.0.1:9', name: 'Agent', retryTimeoutMs: 0 }
const client = restateClient(engine)
const runner = new TurnRunner({
  store: { ...memoryStore(), durable: true },
  spool: { ...memorySpool(), durable: true },
  model: scriptedModel([]),
})

/** The public names of `bobbin-adk/restate`. */
export const RESTATE: Readonly<Record<string, readonly WayIn[]>> = {
  restateAgent: [
    way('restateAgent', (options) => restateAgent(options)),
    way('restateAgent({ name })', (name) => restateAgent({ name, runner }), 'text'),
    way('restateAgent({ runner })', (given) => restateAgent({ name: 'Agent', runner: given })),
  ],
  restateClient: [
    way('restateClient', (options) => restateClient(options)),
    way('restateClient({ ingress })', (ingress) => restateClient({ ...engine, ingress })),
    way('restateClient({ name })', (name) => restateClient({ ...engine, name }), 'text'),
    way('restateClient.run', (input) => client.run(input)),
    way('restateClient.resume', (input) => client.resume(input)),
    way('restateClient.recover', (input) => client.recover(input)),
    way('restateClient.stop', (input) => client.stop(input)),
    way('restateClient.history', (input) => client.history(input)),
    way('restateClient.status', (input) => client.status(input)),
  ],
}
