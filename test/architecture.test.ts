import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import {
  crowdViolations,
  lengthViolations,
  nameViolations,
  syntaxViolations,
} from './architecture/file-rules.ts'
import { cycleViolations, reachViolations } from './architecture/graph-rules.ts'
import {
  layerViolations,
  missingFileViolations,
  nodeImportViolations,
  roomViolations,
} from './architecture/layer-rules.ts'
import { readSourceTree, sourceOf } from './architecture/source-tree.ts'
import {
  importsByName,
  layers,
  maxFilesBeside,
  maxLines,
  neverFromRoot,
  onlyLazilyFromRoot,
  vagueNames,
  vagueWords,
} from './layers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function textsOf(...folders: string[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const folder of folders) {
    for (const name of readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })) {
      const path = `${folder}/${name.replaceAll('\\', '/')}`
      if (/\.(ts|mjs)$/.test(path) && !path.includes('/fixtures/')) {
        texts.set(path, readFileSync(root + path, 'utf8'))
      }
    }
  }
  return texts
}

const tree = readSourceTree(textsOf('src'), manifest.imports)
const everything = readSourceTree(textsOf('src', 'test', 'scripts', 'examples'), manifest.imports)

describe('the architecture', () => {
  it('reads the sources', () => {
    expect([...tree.files.keys()]).toContain('src/core/error/error.ts')
    expect([...tree.nodeOnly]).toEqual(['src/core/hash.node.ts'])
  })

  it('imports only files that exist', () => {
    expect(missingFileViolations(everything)).toEqual([])
  })

  it('keeps the layers', () => {
    expect(layerViolations(tree, layers)).toEqual([])
  })

  it('keeps the direction between the rooms of a folder', () => {
    expect(roomViolations(tree, layers)).toEqual([])
  })

  it('has no import cycles', () => {
    expect(cycleViolations(everything)).toEqual([])
  })

  it('imports nothing of Node below the leaves', () => {
    expect(nodeImportViolations(tree, layers)).toEqual([])
  })

  it('exports by name and imports by literal', () => {
    expect(syntaxViolations(everything, importsByName)).toEqual([])
  })

  it('keeps files short', () => {
    expect(lengthViolations(everything, maxLines)).toEqual([])
  })

  it('keeps few files beside each other', () => {
    expect(crowdViolations(tree, maxFilesBeside)).toEqual([])
  })

  it('names files after what they hold', () => {
    expect(nameViolations(everything.files.keys(), vagueWords, vagueNames)).toEqual([])
  })

  it('reaches no provider SDK and no database from the root entry', () => {
    const kinds = ['static', 'type', 'lazy'] as const
    expect(reachViolations(tree, 'src/index.ts', kinds, neverFromRoot)).toEqual([])
  })

  it('loads heavy packages only when they are needed', () => {
    expect(reachViolations(tree, 'src/index.ts', ['static'], onlyLazilyFromRoot)).toEqual([])
  })

  it.each(['mcp', 'otel'])('loads no package of others with bobbin-adk/%s', (entry) => {
    const packages = ['@modelcontextprotocol/*', '@opentelemetry/*', ...onlyLazilyFromRoot]
    expect(reachViolations(tree, `src/${entry}/index.ts`, ['static'], packages)).toEqual([])
  })

  it('has a source behind every public entry', () => {
    const entries = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [] : [sourceOf(target.default)],
    )
    expect(entries).not.toEqual([])
    for (const entry of entries) expect([...tree.files.keys()]).toContain(entry)
  })
})
