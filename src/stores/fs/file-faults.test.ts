import { describe, expect, it } from 'vitest'
import { proveFaultTolerance } from '../../../test/disk/spool-fault-proof.ts'
import { fileSpool } from './file-spool.ts'
import { nodeFileSystem } from './file-system.ts'

const writing = {
  name: 'a write',
  before: ['here already'],
  act: (store: ReturnType<typeof fileSpool>) => store.write('new content\n'),
  mayHold: ['here already', 'new content\n'],
  mustHold: ['here already'],
}

describe('fileSpool on a failing file system', () => {
  it.each(['kill-after'] as const)(
    'holds the whole artifact or none after `%s` at any call of a write',
    async (kind) => {
      expect(await proveFaultTolerance(writing, { kind })).toBeGreaterThan(15)
    },
  )

  it.each(['ENOSPC'])('answers %s at any call with a typed error', async (code) => {
    expect(await proveFaultTolerance(writing, { kind: 'error', code })).toBeGreaterThan(15)
    expect(await proveFaultTolerance(writing, { kind: 'error-after', code })).toBeGreaterThan(15)
  })

  it('names the reason when the disk is full', async () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    const fileSystem = { ...nodeFileSystem, makeRoot: () => Promise.reject(full) }
    await expect(fileSpool('anywhere', { fileSystem }).write('x')).rejects.toMatchObject({
      code: 'E_SPOOL_WRITE_FAILED',
      data: { reason: 'ENOSPC' },
      cause: full,
    })
  })

  it('does not mistake an error of the source for one of the disk', async () => {
    const failure = Object.assign(new Error('no such log'), { code: 'ENOENT' })
    const source = (async function* () {
      yield 'x'
      throw failure
    })()
    const store = fileSpool('unused-folder', {
      fileSystem: {
        ...nodeFileSystem,
        facts: async () => ({ kind: 'folder', size: 0, modifiedMs: 0, version: '' }),
        makeRoot: async () => undefined,
        syncFolder: async () => {},
        create: async () => ({
          read: async () => 0,
          append: async () => {},
          setTime: async () => {},
          sync: async () => {},
          close: async () => {},
        }),
        remove: async () => {},
      },
    })
    await expect(store.write(source)).rejects.toBe(failure)
  })
})
