import { describe, expect, it } from 'vitest'
import { damageTo } from './damage.ts'
import { loadFixtures } from './fixture.ts'

/** Those in which damage once did harm; `test/deep` has the others. */
const ONCE_HARMED = [
  'text-editor',
  'result-media',
  'stream-message-start',
  'memory-search',
  'signatures',
  'program',
  'shell-container',
  'tool-search-client',
  'tool-search-server',
]
const fixtures = loadFixtures().filter(([file]) =>
  ONCE_HARMED.includes(/([^\\/]+)\.json$/.exec(file)?.[1] ?? ''),
)

describe('a payload with any one member replaced by junk', () => {
  it.each(fixtures)('%s gives items that may be sent, or is refused', (_, fixture) => {
    expect(damageTo(fixture)).toEqual([])
  })
})
