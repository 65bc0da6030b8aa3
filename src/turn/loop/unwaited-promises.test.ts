import { describe, expect, it } from 'vitest'
import { endOf, image } from '../../../test/hostile-parts.ts'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { Model } from '../../model/model.ts'
import type { MediaReader } from '../../spool/media-reader.ts'
import { memorySpool } from '../../spool/memory-spool.ts'

/** A function that is async by a slip, and fails. */
const slip = (async () => {
  throw new Error('plain')
}) as () => never

describe('a promise that was given by a slip, and rejects', () => {
  const reader: MediaReader = { stream: slip }
  const slow = memorySpool()
  const spool = {
    ...slow,
    async write(...given: Parameters<typeof slow.write>) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return slow.write(...given)
    },
  }

  it('fails the call that spools it, and not the process', async () => {
    const tools = [sampleTool('t', (_, ctx) => ctx.spool(slip()))]
    expect(await endOf({ tools, spool })).toEqual(['completed', 'failed'])
  })

  it('fails the call that gives it as the bytes of media', async () => {
    const tools = [sampleTool('t', () => image({ reader }))]
    expect(await endOf({ tools, spool })).toEqual(['completed', 'failed'])
  })

  it('fails the turn that it is an attachment of', async () => {
    const [status] = await endOf({ spool }, { attachments: [image({ reader })] })
    expect(status).toBe('failed')
  })

  it('fails the turn whose model streams it', async () => {
    const model: Model = { api: 'own', provider: 'own', model: 'own', stream: slip }
    expect(await endOf({ model })).toEqual(['failed', 'EXECUTOR_FAILED'])
  })
})
