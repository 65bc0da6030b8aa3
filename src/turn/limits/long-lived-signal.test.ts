import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

describe('a signal that an application has for all its turns', () => {
  it('holds on to none of them', async () => {
    const { signal } = new AbortController()
    const contexts: WeakRef<AbortSignal>[] = []
    const look = sampleTool('look', async () => 'seen')
    for (let turns = 0; turns < 10; turns++) {
      const model = scriptedModel([[{ call: 'look' }], [{ text: 'so' }]])
      const runner = new TurnRunner({
        model,
        tools: [look],
        middleware: [
          {
            turn: (ctx, next) => {
              contexts.push(new WeakRef(ctx.signal))
              return next()
            },
          },
        ],
      })
      expect((await runner.run({ message: 'go', signal })).status).toBe('completed')
    }
    for (let tries = 0; tries < 50 && contexts.some((ref) => ref.deref()); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      collectGarbage()
    }
    expect(contexts.filter((ref) => ref.deref())).toHaveLength(0)
  })
})
