import { beforeAll, describe, expect, it } from 'vitest'
import { askArtifact } from '../../test/ask-artifact.ts'
import { stalls } from '../../test/stalls.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { SpooledArtifact } from './spooled-artifact.ts'

const SIZE = 16 * 1024 * 1024
const HOSTILE = ['^(a+)+$', '(a|aa)+$', '(.*)*x', '(a+)+b', '(.*a){20}', '(a?){500}a{500}b']
const REFUSED = ['(?<=a)b', '(?!a)b', '(a+)\\1', '(', 'a{9999}', `(${'a|'.repeat(2_000)}b)`]

describe('artifact_grep over 16 MB', () => {
  const artifacts: [string, SpooledArtifact][] = []

  beforeAll(async () => {
    const spool = memorySpool()
    const line = `${'a'.repeat(SIZE - 1)}b`
    artifacts.push(['one line', new SpooledArtifact(await spool.write(line))])
    const lines = `${'a'.repeat(99)}\n`.repeat(SIZE / 100)
    artifacts.push(['short lines', new SpooledArtifact(await spool.write(lines))])
    for (const [, artifact] of artifacts)
      await askArtifact(artifact, 'grep', { pattern: 'warm|up' })
  })

  it.each(HOSTILE)('answers `%s` in 250 ms without stalling the event loop', async (pattern) => {
    for (const [name, artifact] of artifacts) {
      const { result, took, stall } = await stalls(() => askArtifact(artifact, 'grep', { pattern }))
      expect(result.length).toBeLessThan(20_500)
      expect({ name, took: took < 250 || took }).toEqual({ name, took: true })
      expect({ name, stall: stall < 50 || stall }).toEqual({ name, stall: true })
    }
  })

  it.each(REFUSED)('refuses `%s` at once and says what to do', async (pattern) => {
    const [[, artifact] = []] = artifacts
    if (artifact === undefined) throw new Error('no artifact')
    const tooLong = pattern.length > 1_000
    const asked = askArtifact(artifact, 'grep', { pattern })
    if (tooLong) await expect(asked).rejects.toThrow('at most 1000 characters')
    else expect(await asked).toMatch(/^Error: .{20}/)
  })
})
