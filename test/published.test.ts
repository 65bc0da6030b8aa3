import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { inRoot } from '../scripts/project.mjs'
import { runNode } from '../scripts/run-command.mjs'
import { bytesLeftByTurn } from './consumer/finished-turns.ts'
import { importNames } from './consumer/import-names.ts'
import { type InstalledPackage, linkPackage } from './consumer/installed-package.ts'
import { publicExports } from './consumer/public-exports.ts'
import { programOfAllNames, typeCheck } from './consumer/type-check.ts'

let installed: InstalledPackage

beforeAll(async () => {
  installed = await linkPackage()
}, 120_000)

afterAll(() => installed?.remove())

describe('the package as published', () => {
  it('lists the public names of every subpath', () => {
    const subpaths = Object.keys(manifest.exports)
      .filter((subpath) => subpath !== './package.json')
      .map((subpath) => `bobbin-adk${subpath.slice(1)}`)
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

  describe.each(['NodeNext', 'Bundler'] as const)('with %s resolution', (resolution) => {
    let said: Record<'allNames' | 'wrong' | 'subclasses', string>
    beforeAll(async () => {
      const names = ['ArtifactTool', 'Media', 'SpooledArtifact', 'Tokenizable', 'Tool']
      const own = names.map(
        (name) => `export class Own${name} extends ${name} { *[Symbol.iterator]() { yield 1 } }`,
      )
      said = await typeCheck(installed.folder, resolution, {
        allNames: programOfAllNames(),
        wrong: "import { BobbinError } from 'bobbin-adk'\nexport const x: number = BobbinError\n",
        subclasses: [`import { ${names.join(', ')} } from 'bobbin-adk'`, ...own].join('\n'),
      })
    }, 120_000)

    it('type-checks', () => expect(said.allNames).toBe(''))

    it('has types, not any', () => expect(said.wrong).toContain('error TS2322'))

    it('leaves the symbols of its classes to those that extend them', () => {
      expect(said.subclasses).toBe('')
    })
  })

  it('holds the built code, its types, the documents and the examples, and nothing else', () => {
    const papers = ['AGENTS', 'CHANGELOG', 'CODE_OF_CONDUCT', 'CONTRIBUTING', 'README', 'SECURITY']
    const named = [...papers.map((name) => `${name}.md`), 'LICENSE', 'package.json']
    const folders = /^dist\/.+\.(js|d\.ts)$|^docs\/.+\.md$|^examples\/.+\.(mjs|tsx?|json|html|css)$/
    const { packedFiles } = installed
    expect(packedFiles).toEqual(
      expect.arrayContaining([...named, 'dist/index.js', 'docs/index.md']),
    )
    const rest = packedFiles.filter((path) => !named.includes(path))
    expect(rest.filter((path) => !folders.test(path))).toEqual([])
    expect(rest.filter((path) => /\.test|\/fixtures\/|(^|\/)test\//.test(path))).toEqual([])
  })

  it('is enough for a provider in a package of its own', async () => {
    const home = join(installed.folder, 'own-provider')
    cpSync(inRoot('examples', 'provider'), home, { recursive: true })
    const { code, output } = await runNode('--test', ['test.mjs'], { cwd: home })
    expect(output).toMatch(/^# pass [3-9]\d$/m)
    expect({ code, failed: /^# fail (\d+)$/m.exec(output)?.[1] }).toEqual({ code: 0, failed: '0' })
  }, 60_000)

  it('holds every page and file that its pages link to', () => {
    const pages = installed.packedFiles.filter((path) => path.endsWith('.md'))
    const links = pages.flatMap((page) => {
      const text = readFileSync(inRoot(page), 'utf8').replaceAll(/^```.*?^```/gms, '')
      const targets = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, to = '']) => to)
      return targets.map((to) => ({ page, to: posix.join(posix.dirname(page), to) }))
    })
    expect(links.length).toBeGreaterThan(50)
    expect(links.filter(({ to }) => !installed.packedFiles.includes(to))).toEqual([])
  })

  it('brings a command that runs', async () => {
    const file = join(installed.folder, 'node_modules', 'bobbin-adk', manifest.bin.bobbin)
    const { output, code } = await runNode(file, ['--version'], { cwd: installed.folder })
    expect({ output, code }).toEqual({ output: `${manifest.version}\n`, code: 0 })
  })

  it('names the packages that `--otel` needs', async () => {
    const file = join(installed.folder, 'node_modules', 'bobbin-adk', manifest.bin.bobbin)
    const agent = inRoot('examples', 'incident', 'agent.ts')
    rmSync(join(installed.folder, 'node_modules', '@opentelemetry', 'sdk-node'))
    const options = { cwd: installed.folder }
    const { code, output } = await runNode(file, ['run', '--otel', '-a', agent], options)
    expect(code).toBe(2)
    expect(output).toContain('npm install @opentelemetry/api @opentelemetry/sdk-node')
  })

  it('leaves little of a finished turn to the full collections', async () => {
    // Plain async functions leave about 57 KB for a turn of three calls. A history that is kept leaves far more.
    expect(await bytesLeftByTurn(installed.folder)).toBeLessThan(100_000)
  }, 60_000)
})
