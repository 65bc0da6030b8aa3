import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import benchManifest from '../bench/package.json' with { type: 'json' }
import peersManifest from '../bench/peers/package.json' with { type: 'json' }
import manifest from '../package.json' with { type: 'json' }
import { inRoot } from '../scripts/project.mjs'
import { publicExports } from './consumer/public-exports.ts'

const read = (path: string) => readFileSync(inRoot(path), 'utf8')
const linesOf = (path: string) => read(path).trimEnd().split('\n').length

describe('the documents', () => {
  it('say of every dependency what it is for', () => {
    const page = read('docs/dependencies.md')
    const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('name every subpath in the README', () => {
    const page = read('README.md')
    expect(Object.keys(publicExports).filter((name) => !page.includes(`| \`${name}\` |`))).toEqual(
      [],
    )
  })

  it('compare with other kits by commands that exist, at the versions that they install', () => {
    const [, section = ''] = read('README.md').split('## Beside other kits')
    const [table = ''] = section.split('\n## ')
    const commands = [...table.matchAll(/`npm run bench -- (\w+)`/g)].map(([, name = '']) => name)
    const [, ...rows] = table.split('\n').filter((line) => line.startsWith('| '))
    expect(commands).toHaveLength(rows.length)
    expect(commands.filter((name) => !existsSync(inRoot('bench', `${name}.bench.mjs`)))).toEqual([])
    const installed = { ...benchManifest.dependencies, ...peersManifest.dependencies }
    const named = [...table.matchAll(/`([@\w/-]+)` (\d+\.\d+\.\d+)/g)]
    expect(named.length).toBeGreaterThan(0)
    for (const [, name = '', version] of named) {
      expect({ name, version }).toEqual({ name, version: Object(installed)[name] as unknown })
    }
  })

  it('stay short enough to be read', () => {
    expect(linesOf('README.md')).toBeLessThan(150)
    expect(linesOf('AGENTS.md')).toBeLessThan(100)
    const [, program = ''] = /```js\n(.*?)```/s.exec(read('README.md')) ?? []
    expect(program.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20)
    expect(program).toContain('new TurnRunner(')
  })
})
