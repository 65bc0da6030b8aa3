import { describe, expect, it } from 'vitest'
import { firstDifference } from '../scripts/ensure-installed.mjs'

const luxon = { version: '3.7.2', integrity: 'sha512-a' }
const binary = { version: '1.0.0', integrity: 'sha512-b', optional: true }

describe('firstDifference', () => {
  it('accepts what the lockfile names, with or without the binaries of other platforms', () => {
    const wanted = { '': {}, 'node_modules/luxon': luxon, 'node_modules/binary-mac': binary }
    expect(firstDifference(wanted, { 'node_modules/luxon': luxon })).toBeUndefined()
    const onMac = { 'node_modules/luxon': luxon, 'node_modules/binary-mac-arm': binary }
    expect(firstDifference(wanted, onMac)).toBeUndefined()
  })

  it.each([
    ['is missing', {}],
    ['has another version', { 'node_modules/luxon': { ...luxon, version: '3.7.1' } }],
    ['has other bytes', { 'node_modules/luxon': { ...luxon, integrity: 'sha512-c' } }],
  ])('names a package that %s', (_, installed) => {
    const wanted = { '': {}, 'node_modules/luxon': luxon }
    expect(firstDifference(wanted, installed)).toBe('luxon is not at 3.7.2')
  })

  it('accepts any bytes of a package that the lockfile has no checksum for', () => {
    const wanted = { 'node_modules/binary-mac': { version: '1.0.0', optional: true } }
    expect(firstDifference(wanted, { 'node_modules/binary-mac': binary })).toBeUndefined()
  })

  it('names an optional package of another version', () => {
    const installed = { 'node_modules/binary': { ...binary, version: '0.9.0' } }
    expect(firstDifference({ 'node_modules/binary': binary }, installed)).toBe(
      'binary is not at 1.0.0',
    )
  })

  it('names a package that the lockfile does not, because it could hide a missing dependency', () => {
    expect(firstDifference({}, { 'node_modules/luxon': luxon })).toBe(
      'luxon is not in package-lock.json',
    )
  })
})
