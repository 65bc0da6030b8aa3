import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { ToolCall } from '../records/tool-call.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { memoryStore } from './memory/memory-store.ts'
import { storedResults } from './stored-results.ts'

/** What a program reads back that has nothing but the store of a turn that ended. */
async function readBack(output: string) {
  const store = memoryStore()
  const model = scriptedModel([[{ call: 'read_log' }], [{ text: 'Read.' }]])
  const tools = [sampleTool('read_log', () => output)]
  await new TurnRunner({ model, tools, store }).run({ conversation: 'c', message: 'Read.' })
  const texts: string[] = []
  for await (const { kind, data } of store.entries('c')) {
    if (kind !== 'settlement') continue
    const { results } = ToolCall.fromJSON(data, { spool: storedResults(store) })
    if (SpooledArtifact.isSpooledArtifact(results)) texts.push(await results.asString())
  }
  return texts
}

describe('storedResults', () => {
  it.each([
    ['a small result, which lies in the store', 'all well'],
    ['a larger one, which lies on its spool', 'all well\n'.repeat(20_000)],
  ])('reads %s', async (_, output) => {
    expect(await readBack(output)).toEqual([output])
  })

  it('says what it does not find, and prefers the spool that it is given', async () => {
    const digest = 'a'.repeat(64)
    const without = storedResults({ blob: async () => undefined })
    await expect(without.read(digest)).rejects.toMatchObject({ code: 'E_SPOOL_NOT_FOUND' })
    const spool = memorySpool()
    const written = await spool.write('elsewhere')
    const reader = await storedResults(memoryStore(), spool).read(written.digest)
    expect(reader.digest).toBe(written.digest)
  })

  it('refuses bytes that are not what was written', async () => {
    const forged = storedResults({ blob: async () => new Uint8Array([1]) })
    await expect(forged.read('a'.repeat(64))).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
  })
})
