import { describe, expect, it } from 'vitest'
import { entryOf, missingPackages } from '../scripts/complete-lockfile.mjs'
import { inRoot, readJson } from '../scripts/project.mjs'

const { packages } = readJson(inRoot('package-lock.json'))

describe('package-lock.json', () => {
  it('locks every optional package that a locked package names: else `npm ci` refuses it (`npm run lockfile`)', () => {
    expect(missingPackages(packages)).toEqual([])
  })

  it('names no address, so that any registry can serve it', () => {
    expect(JSON.stringify(packages)).not.toMatch(/"resolved"/)
  })
})

describe('missingPackages', () => {
  const bundler = {
    version: '1.0.0',
    dev: true,
    optionalDependencies: { 'bundler-linux-x64': '1.0.0' },
  }
  const wanted = { name: 'bundler-linux-x64', version: '1.0.0', dev: true }

  it('finds a package that no entry has, and puts it at the top', () => {
    expect(missingPackages({ 'node_modules/bundler': bundler })).toEqual([
      { ...wanted, place: 'node_modules/bundler-linux-x64' },
    ])
  })

  it.each([
    ['beside the package', 'node_modules/a/node_modules/bundler-linux-x64'],
    ['inside the package', 'node_modules/a/node_modules/bundler/node_modules/bundler-linux-x64'],
    ['at the top', 'node_modules/bundler-linux-x64'],
  ])('accepts an entry %s', (_, place) => {
    const lock = { 'node_modules/a/node_modules/bundler': bundler, [place]: { version: '1.0.0' } }
    expect(missingPackages(lock)).toEqual([])
  })

  it('finds a package that is there in another version only, and puts it inside', () => {
    const lock = {
      'node_modules/bundler': bundler,
      'node_modules/bundler-linux-x64': { version: '2.0.0' },
    }
    expect(missingPackages(lock)).toEqual([
      { ...wanted, place: 'node_modules/bundler/node_modules/bundler-linux-x64' },
    ])
  })

  it('leaves a range to npm', () => {
    const lock = {
      'node_modules/watcher': { optionalDependencies: { fsevents: '~2.3.3' } },
      'node_modules/fsevents': { version: '2.3.4' },
    }
    expect(missingPackages(lock)).toEqual([])
  })
})

describe('entryOf', () => {
  it.each([
    ['@biomejs/cli-darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }],
    ['@oxlint/binding-win32-ia32-msvc', { os: ['win32'], cpu: ['ia32'] }],
    ['@oxlint/binding-android-arm-eabi', { os: ['android'], cpu: ['arm'] }],
    ['@oxlint/binding-linux-arm-musleabihf', { os: ['linux'], cpu: ['arm'], libc: ['musl'] }],
    ['@rolldown/binding-linux-s390x-gnu', { os: ['linux'], cpu: ['s390x'], libc: ['glibc'] }],
    ['@rolldown/binding-wasm32-wasi', { cpu: ['wasm32'] }],
  ])('reads the platform of %s', (name, platform) => {
    expect(entryOf({ name, version: '1.2.3', dev: false })).toEqual({
      version: '1.2.3',
      optional: true,
      ...platform,
    })
  })

  it('keeps the checksum that the registry gives, and says that only development needs it', () => {
    const missing = { name: 'tool-linux-x64', version: '1.2.3', dev: true }
    expect(entryOf(missing, 'sha512-a')).toEqual({
      version: '1.2.3',
      integrity: 'sha512-a',
      cpu: ['x64'],
      dev: true,
      optional: true,
      os: ['linux'],
    })
  })

  it('refuses a name without a platform, and a range', () => {
    expect(() => entryOf({ name: 'tool', version: '1.2.3', dev: true })).toThrow(
      /`tool` does not say/,
    )
    expect(() => entryOf({ name: 'tool-linux-x64', version: '^1.2.3', dev: true })).toThrow(
      /`\^1\.2\.3`, which is not one version/,
    )
  })
})
