import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
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

  it('stay short enough to be read', () => {
    expect(linesOf('README.md')).toBeLessThan(150)
    expect(linesOf('AGENTS.md')).toBeLessThan(100)
  })
})
