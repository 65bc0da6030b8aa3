import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#hash'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Redact } from '../../store/rows/redaction.ts'
import { MAX_BLOB_BYTES } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'
import { resultSpool } from './small-results.ts'

describe('resultSpool', () => {
  it('sends to the spool what comes when too much waits for its settlement', async () => {
    const results = resultSpool(memoryStore(), memorySpool())
    const texts = Array.from({ length: 300 }, (_, n) => `${n} `.padEnd(MAX_BLOB_BYTES, 'x'))
    const readers = []
    for (const text of texts) readers.push(await results.write(text))
    const held = readers.filter(({ digest }) => results.uncommitted(digest) !== undefined)
    expect(held.length * MAX_BLOB_BYTES).toBeLessThanOrEqual(16 * 1024 * 1024)
    for (const { digest } of readers) expect(await results.has(digest)).toBe(true)
    const isHeld = async (text: string) =>
      results.uncommitted((await results.write(text)).digest) !== undefined
    expect(await isHeld('small')).toBe(false)
    for (const { digest } of held) results.committed(digest)
    expect(await isHeld('small')).toBe(true)
  })

  it('takes nothing for a result that is not what was written', async () => {
    const store = { ...memoryStore(), blob: async () => new TextEncoder().encode('another') }
    const { read } = resultSpool(store, memorySpool())
    await expect(read(sha256Hex('one'))).rejects.toMatchObject({
      code: 'E_SPOOL_CORRUPT',
      data: { digest: sha256Hex('one'), part: 'blob' },
    })
    expect((await read(sha256Hex('another'))).byteLength).toBe(7)
  })

  it('keeps bytes as they were written, whatever becomes of their buffer', async () => {
    for (const bytes of [new Uint8Array([1, 2, 3]), Buffer.from([1, 2, 3])]) {
      const results = resultSpool(memoryStore(), memorySpool())
      const { digest } = await results.write(bytes)
      bytes.fill(9)
      expect(results.uncommitted(digest)).toEqual(new Uint8Array([1, 2, 3]))
    }
  })

  it('holds what was written until each of its writers has its record', async () => {
    const step = fc.tuple(fc.constantFrom('write', 'commit'), fc.constantFrom('a', 'b', 'c', 'd'))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const results = resultSpool(memoryStore(), memorySpool())
        const writes: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 }
        for (const [what, text] of steps) {
          if (what === 'write') await results.write(text)
          else results.committed(sha256Hex(text))
          writes[text] = Math.max(0, (writes[text] ?? 0) + (what === 'write' ? 1 : -1))
          for (const [each, count] of Object.entries(writes)) {
            const held = results.uncommitted(sha256Hex(each))
            expect(held === undefined).toBe(count === 0)
          }
        }
      }),
    )
  })

  it('loses nothing that another call wrote too and had redacted', async () => {
    const redact: Redact = ({ kind, data }) =>
      kind === 'settlement' && data['tool'] === 'hidden' ? ['/results'] : []
    const store = memoryStore({ redact })
    const [isSpooled, isStored] = [byHand(), byHand()]
    const hidden = sampleTool('hidden', async () => {
      await isSpooled.promise
      return 'same'
    })
    const shown = sampleTool('shown', async (_, ctx) => {
      const artifact = await ctx.spool('same')
      isSpooled.resolve()
      await isStored.promise
      return artifact
    })
    const model = scriptedModel([[{ call: 'hidden' }, { call: 'shown' }], [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, tools: [hidden, shown], store })
    runner.on('toolCall', ({ tool, isComplete }) => {
      if (tool === 'hidden' && isComplete) isStored.resolve()
    })
    const { conversation, toolCalls } = await runner.run({ message: 'go' })
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['ok', 'ok'])
    expect((await store.verify({ conversation })).faults).toEqual([])
    expect(await store.blob(sha256Hex('same'))).toEqual(new TextEncoder().encode('same'))
  })

  it('makes room with every record for the results that follow', async () => {
    const spool = memorySpool()
    let written = 0
    const counting = {
      ...spool,
      write: (...given: Parameters<typeof spool.write>) => {
        written++
        return spool.write(...given)
      },
    }
    const text = sampleTool('text', ({ q = '' }) => q.padEnd(MAX_BLOB_BYTES, 'x'))
    const step = (at: number) =>
      Array.from({ length: 70 }, (_, n) => ({ call: 'text', args: { q: `${at}/${n}` } }))
    const model = scriptedModel([...[1, 2, 3, 4].map(step), [{ text: 'ok' }]])
    const options = {
      model,
      tools: [text],
      store: memoryStore(),
      spool: counting,
      limits: { calls: 300 },
    }
    const { toolCalls } = await new TurnRunner(options).run({ message: 'go' })
    expect(toolCalls.length * MAX_BLOB_BYTES).toBeGreaterThan(16 * 1024 * 1024)
    expect(written).toBe(0)
  })

  it('takes a result that a call gives twice for one', async () => {
    const store = memoryStore()
    const blobs: number[] = []
    const counting = {
      ...store,
      append: (...given: Parameters<typeof store.append>) => {
        blobs.push(given[3]?.length ?? 0)
        return store.append(...given)
      },
    }
    const twice = sampleTool('twice', async (_, ctx) => {
      const artifact = await ctx.spool('same')
      return [artifact, artifact]
    })
    const model = scriptedModel([[{ call: 'twice' }], [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, tools: [twice], store: counting })
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(toolCalls[0]?.results).toHaveLength(2)
    expect(blobs.filter((count) => count > 0)).toEqual([1])
  })
})
