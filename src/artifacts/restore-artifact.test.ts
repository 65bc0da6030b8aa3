import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../core/error/error.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { isStoredArtifact, restoreArtifact } from './restore-artifact.ts'
import { SpooledArtifact } from './spooled-artifact.ts'
import { SpooledJsonArtifact } from './spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from './spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from './spooled-table-artifact.ts'

class Own extends SpooledArtifact {
  static override readonly kind: string = 'own'
}

const spool = memorySpool()
const stored = (artifact: SpooledArtifact): unknown => JSON.parse(JSON.stringify(artifact))

describe('restoreArtifact', () => {
  it.each([SpooledArtifact, SpooledJsonArtifact, SpooledMarkdownArtifact, SpooledTableArtifact])(
    'finds %o again by its kind',
    async (Class) => {
      const artifact = new Class(await spool.write('[1]'))
      expect(isStoredArtifact(stored(artifact))).toBe(true)
      const restored = restoreArtifact(stored(artifact), { spool })
      expect(restored).toBeInstanceOf(Class)
      expect(restored.constructor).toBe(Class)
      expect([restored.digest, await restored.asString()]).toEqual([artifact.digest, '[1]'])
    },
  )

  it('finds a class of the user only where it is passed', async () => {
    const json = stored(new Own(await spool.write('x')))
    expect(restoreArtifact(json, { spool, artifacts: [Own] })).toBeInstanceOf(Own)
    expect(() => restoreArtifact(json, { spool })).toThrow('is of kind `own`')
    try {
      restoreArtifact(json, {})
    } catch (error) {
      expect(isBobbinError(error, 'E_UNRESOLVED_REFERENCE')).toBe(true)
    }
  })
})
