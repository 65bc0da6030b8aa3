import { TurnRunner } from '../../dist/index.js'
import { readLog } from './fill.mjs'
import { openStore } from './open-store.mjs'

/** One more turn of the conversation `c`, in a fresh process. */
export async function reopen([where, setup], meter, scriptedModel) {
  const { store, close } = await openStore(where)
  try {
    // The database is open and the code is compiled: what is left is the conversation.
    const { budget } = JSON.parse(setup)
    let [stop, found] = []
    const model = scriptedModel(0, ({ items }) => {
      found ??= stop?.(items.length)
    })
    const runner = new TurnRunner({ store, model, tools: [readLog], ...(budget && { budget }) })
    await runner.run({ conversation: 'small', message: 'And now?' })
    stop = meter()
    const { status, reason } = await runner.run({ conversation: 'c', message: 'And now?' })
    if (status !== 'completed')
      throw new Error(`The turn ended as \`${status}\`: ${reason?.message}`)
    return found
  } finally {
    await close()
  }
}
