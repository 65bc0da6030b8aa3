import { beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../scripts/ensure-built.mjs'
import { inRoot } from '../scripts/project.mjs'
import { runNode } from '../scripts/run-command.mjs'

/**
 * Prints how many of ten finished turns are still in memory while the signal that they were given lives. It needs a process
 * of its own: in one that ran other tests, the collector keeps turns now and then, whatever the signal does.
 */
const PROGRAM = `
import { Tool, TurnRunner } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'

const { signal } = new AbortController()
const turns = []
const look = new Tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  effect: 'read',
  handler: async () => 'seen',
})
for (let i = 0; i < 10; i++) {
  const middleware = [
    {
      turn: (ctx, next) => {
        turns.push(new WeakRef(ctx.signal))
        return next()
      },
    },
  ]
  const model = scriptedModel([[{ call: 'look' }], [{ text: 'so' }]])
  const { status } = await new TurnRunner({ model, tools: [look], middleware }).run({ message: 'go', signal })
  if (status !== 'completed') throw new Error(status)
}
for (let tries = 0; tries < 50 && turns.some((ref) => ref.deref()); tries++) {
  await new Promise((resolve) => setTimeout(resolve, 10))
  gc()
}
console.log(turns.length, turns.filter((ref) => ref.deref()).length, signal.aborted)
`

beforeAll(async () => {
  const { code, output } = await ensureBuilt()
  if (code !== 0) throw new Error(output)
}, 120_000)

describe('a signal that an application has for all its turns', () => {
  it('holds on to none of them', async () => {
    const { output } = await runNode('--expose-gc', ['--input-type=module', '--eval', PROGRAM], {
      cwd: inRoot(),
    })
    expect(output.trim()).toBe('10 0 false')
  })
})
