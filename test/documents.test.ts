import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import benchManifest from '../bench/package.json' with { type: 'json' }
import peersManifest from '../bench/peers/package.json' with { type: 'json' }
import manifest from '../package.json' with { type: 'json' }
import { writtenPages } from '../scripts/docs/pages.mjs'
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

  it('can all be found from their index, and the examples too', () => {
    const index = read('docs/index.md')
    const pages = readdirSync(inRoot('docs'), { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.md') && path !== 'index.md')
      .filter((path) => !path.startsWith('api/') || path === 'api/index.md')
    const programs = readdirSync(inRoot('examples')).filter((path) => path.endsWith('.mjs'))
    const links = [...pages, ...programs.map((name) => `../examples/${name}`)]
    expect(links.filter((path) => !index.includes(`](${path})`))).toEqual([])
  })

  it('name files and link to pages that there are', () => {
    const gone = writtenPages().flatMap((page) => {
      const text = read(page).replaceAll(/^```.*?^```/gms, '')
      const named = [...text.matchAll(/`((?:src|test|scripts|examples)\/[\w./-]+\.\w+)`/g)]
      const linked = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
      return [
        ...named.map(([, path = '']) => path),
        ...linked.map(([, path = '']) => join(dirname(page), path)),
      ]
        .filter((path) => !existsSync(inRoot(path)))
        .map((path) => `${page}: ${path}`)
    })
    expect(gone).toEqual([])
  })

  it('stay short enough to be read', () => {
    expect(linesOf('README.md')).toBeLessThan(150)
    expect(linesOf('AGENTS.md')).toBeLessThan(100)
    const [, program = ''] = /```js\n(.*?)```/s.exec(read('README.md')) ?? []
    expect(program.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20)
    expect(program).toContain('new TurnRunner(')
  })
})
