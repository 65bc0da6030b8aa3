import { describe, expect, it } from 'vitest'
import { releaseFaults } from '../scripts/check-release.mjs'

const ready = {
  version: '0.2.0',
  lockedVersion: '0.2.0',
  changelog:
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-30\n\n### Added\n\n- A store.\n',
  changes: '',
  tags: ['v0.1.0'],
}
const changelog = (text: string) => ({ changelog: `# Changelog\n\n${text}` })

describe('releaseFaults', () => {
  it('finds nothing when version, changelog and tree are ready', () => {
    expect(releaseFaults(ready)).toEqual([])
  })

  it.each([
    ['changes that are not committed', { changes: ' M README.md\n' }, /^Some files have changes/],
    ['two versions', { lockedVersion: '0.1.0' }, /0\.2\.0 and package-lock\.json 0\.1\.0/],
    ['a version that has a tag', { tags: ['v0.2.0'] }, /^The tag v0\.2\.0 exists/],
    ['no section', changelog('## [0.1.0] - 2026-11-01\n\n- All.\n'), /has no section/],
    ['no date', changelog('## [0.2.0]\n\n- A store.\n'), /has no date/],
    ['an empty section', changelog('## [0.2.0] - 2026-11-30\n\n### Added\n'), /is empty/],
    [
      'lines that are still unreleased',
      changelog('## [Unreleased]\n\n- More.\n\n## [0.2.0] - 2026-11-30\n\n- A store.\n'),
      /still has lines under "Unreleased"/,
    ],
  ])('names %s, and nothing else', (_, change, fault) => {
    expect(releaseFaults({ ...ready, ...change })).toEqual([expect.stringMatching(fault)])
  })
})
