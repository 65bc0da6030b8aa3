import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { runNode } from '../scripts/run-command.mjs'
import { bytesLeftByTurn } from './consumer/finished-turns.ts'
import { importNames } from './consumer/import-names.ts'
import { type InstalledPackage, installPackage } from './consumer/installed-package.ts'
import { publicExports } from './consumer/public-exports.ts'
import { typeCheck } from './consumer/type-check.ts'

let installed: InstalledPackage

beforeAll(async () => {
  installed = await installPackage()
}, 120_000)

afterAll(() => installed?.remove())

describe('the package as published', () => {
  it('lists the public names of every subpath', () => {
    const subpaths = Object.keys(manifest.exports)
      .filter((subpath) => subpath !== './package.json')
      .map((subpath) => `bobbin${subpath.slice(1)}`)
    expect(Object.keys(publicExports).sort()).toEqual(subpaths.sort())
  })

  it('exports exactly those names', async () => {
    const subpaths = Object.keys(publicExports)
    const expected = Object.fromEntries(
      Object.entries(publicExports).map(([subpath, { values }]) => [subpath, [...values].sort()]),
    )
    expect(Object.values(expected)).not.toContainEqual([])
    expect(await importNames(installed.folder, subpaths)).toEqual(expected)
  })

  it.each(['NodeNext', 'Bundler'] as const)(
    'type-checks with %s resolution',
    async (resolution) => {
      expect(await typeCheck(installed.folder, resolution)).toBe('')
    },
  )

  it.each(['NodeNext', 'Bundler'] as const)(
    'has types, not any, with %s resolution',
    async (resolution) => {
      const program = "import { BobbinError } from 'bobbin'\nexport const x: number = BobbinError\n"
      expect(await typeCheck(installed.folder, resolution, program)).toContain('error TS2322')
    },
  )

  it('leaves the symbols of its classes to whoever extends them', async () => {
    const names = ['ArtifactTool', 'Media', 'SpooledArtifact', 'Tokenizable', 'Tool']
    const own = names.map(
      (name) => `export class Own${name} extends ${name} { *[Symbol.iterator]() { yield 1 } }`,
    )
    const program = [`import { ${names.join(', ')} } from 'bobbin'`, ...own].join('\n')
    expect(await typeCheck(installed.folder, 'NodeNext', program)).toBe('')
  })

  it('holds the built code, its types and four papers, and nothing else', () => {
    const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
    const code = installed.packedFiles.filter((path) => !papers.includes(path))
    expect(installed.packedFiles).toEqual(expect.arrayContaining([...papers, 'dist/index.js']))
    expect(code.filter((path) => !/^dist\/.+\.(js|d\.ts)$/.test(path))).toEqual([])
    expect(code.filter((path) => /\.test|\/fixtures\/|(^|\/)test\//.test(path))).toEqual([])
  })

  it('brings a command that runs', async () => {
    const file = join(installed.folder, 'node_modules', 'bobbin', manifest.bin.bobbin)
    const { output, code } = await runNode(file, ['--version'], { cwd: installed.folder })
    expect({ output, code }).toEqual({ output: `${manifest.version}\n`, code: 0 })
  })

  it('leaves nearly nothing of a finished turn to the full collections', async () => {
    // One closure in the wrong place, and it is 30 KB.
    expect(await bytesLeftByTurn(installed.folder)).toBeLessThan(10_000)
  }, 60_000)
})
