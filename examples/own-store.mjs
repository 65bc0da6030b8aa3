// A store of your own: this one reports every append to a metrics system. The shared suite checks it.
import assert from 'node:assert/strict'
import { memoryStore, Tool, TurnRunner } from 'bobbin-adk'
import { storeConformance } from 'bobbin-adk/testing'
import { z } from 'zod'

// #region store
/**
 * A store that behaves like the one inside and reports how long each append took.
 *
 * @param {import('bobbin-adk/store').Store} inner
 * @param {(kinds: string[], ms: number) => void} tell
 * @returns {import('bobbin-adk/store').Store}
 */
function measuredStore(inner, tell) {
  return new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'append') return value.bind(target)
      /** @type {import('bobbin-adk/store').Store['append']} */
      const append = async (conversation, epoch, entries, blobs) => {
        const start = performance.now()
        const appended = await target.append(conversation, epoch, entries, blobs)
        tell(
          entries.map(({ kind }) => kind),
          performance.now() - start,
        )
        return appended
      }
      return append
    },
  })
}
// #endregion store

// #region proof
const checks = storeConformance((options) => ({
  store: measuredStore(memoryStore(options), () => {}),
}))
for (const { name, run } of checks) {
  await run().catch((cause) => {
    throw new Error(`not a store: ${name}`, { cause })
  })
}
// #endregion proof

/** @type {string[]} */
const seen = []
const store = measuredStore(memoryStore(), (kinds) => seen.push(...kinds))
const ping = new Tool({
  name: 'ping',
  description: 'Answers.',
  inputSchema: z.object({}),
  effect: 'read',
  handler: () => 'pong',
})
const runner = new TurnRunner({
  store,
  tools: [ping],
  executor: async ({ iteration }) =>
    iteration === 1 ? { calls: [{ tool: 'ping', args: {} }] } : { answer: 'pong' },
})
const { status, conversation } = await runner.run({ message: 'Are you there?' })
assert.equal(status, 'completed')
assert.deepEqual(seen.slice(0, 1).concat(seen.slice(-1)), ['turn-start', 'turn-end'])
assert.equal((await store.verify({ conversation })).ok, true)
console.log(`${checks.length} checks passed; one turn appended ${seen.join(', ')}.`)
