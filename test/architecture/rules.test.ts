import { describe, expect, it } from 'vitest'
import { layers, neverFromRoot, onlyLazilyFromRoot, vagueNames, vagueWords } from '../layers.ts'
import {
  crowdViolations,
  lengthViolations,
  nameViolations,
  syntaxViolations,
} from './file-rules.ts'
import { cycleViolations, reachViolations } from './graph-rules.ts'
import {
  layerViolations,
  missingFileViolations,
  nodeImportViolations,
  roomViolations,
} from './layer-rules.ts'
import { readSourceTree } from './source-tree.ts'

const packageImports = {
  '#hash': { node: './dist/core/hash.node.js', default: './dist/core/hash.portable.js' },
}
const treeOf = (files: Record<string, string>) =>
  readSourceTree(new Map(Object.entries(files)), packageImports)

/** A tree in which one file of `from` imports one file of `to`. */
const importing = (from: string, to: string, write = (path: string) => `import '${path}'`) => {
  const up = '../'.repeat(from.split('/').length)
  return treeOf({ [`src/${from}/a.ts`]: write(`${up}${to}/b.ts`), [`src/${to}/b.ts`]: '' })
}

describe('layerViolations', () => {
  it.each([
    ['core', 'text'],
    ['tools', 'records'],
    ['records', 'turn'],
    ['turn', 'testing'],
    ['model', 'store'],
    ['store', 'model'],
    ['text', 'wire'],
    ['providers/openai', 'providers/anthropic'],
    ['providers/openai', 'providers/foundry'],
    ['providers/openai', 'wire'],
    ['stores/fs', 'stores/sqlite'],
    ['wire', 'stores/fs'],
    ['wire', 'testing'],
  ])('refuses that %s imports %s', (from, to) => {
    expect(layerViolations(importing(from, to), layers)).toEqual([
      `src/${from}/a.ts:1: \`${from}\` may not import \`${to}\` (src/${to}/b.ts)`,
    ])
  })

  it.each([
    ['text', 'core'],
    ['turn', 'model'],
    ['prompt', 'store'],
    ['core', 'core/inner'],
    ['providers/openai', 'turn'],
    ['providers/foundry', 'providers/openai'],
    ['stores/sqlite', 'stores/fs'],
    ['wire', 'providers/gemini'],
    ['testing', 'stores/fs'],
    ['cli', 'wire'],
  ])('lets %s import %s', (from, to) => {
    expect(layerViolations(importing(from, to), layers)).toEqual([])
  })

  it.each([
    (path: string) => `import type { B } from '${path}'`,
    (path: string) => `export { b } from '${path}'`,
    (path: string) => `export type { B } from '${path}'`,
    (path: string) => `const b = () => import('${path}')`,
    (path: string) => `type B = import('${path}').B`,
  ])('judges every form of import: %s', (write) => {
    expect(layerViolations(importing('core', 'turn', write), layers)).toHaveLength(1)
  })

  it('refuses a folder that is not in the table', () => {
    expect(layerViolations(treeOf({ 'src/extras/a.ts': '' }), layers)).toHaveLength(1)
    expect(layerViolations(treeOf({ 'src/providers/a.ts': '' }), layers)).toHaveLength(1)
  })

  it('keeps the entry above the rows: it imports no leaf, and nobody imports it', () => {
    const entry = (text: string) => ({ 'src/index.ts': text, 'src/turn/a.ts': '' })
    expect(layerViolations(treeOf(entry("import './turn/a.ts'")), layers)).toEqual([])
    const leaf = treeOf({ ...entry("import './wire/a.ts'"), 'src/wire/a.ts': '' })
    expect(layerViolations(leaf, layers)).toHaveLength(1)
    const back = treeOf({ 'src/index.ts': '', 'src/turn/a.ts': "import '../index.ts'" })
    expect(layerViolations(back, layers)).toHaveLength(1)
  })

  it('leaves tests free', () => {
    const tree = treeOf({
      'src/core/a.test.ts': "import '../turn/b.ts'\nimport 'node:fs'",
      'src/turn/b.ts': '',
    })
    expect(layerViolations(tree, layers)).toEqual([])
    expect(nodeImportViolations(tree, layers)).toEqual([])
  })
})

describe('roomViolations', () => {
  const table = { ...layers, rooms: { turn: ['log', '.', 'loop'] } }
  const violations = (path: string, text: string) =>
    roomViolations(
      treeOf({
        [path]: text,
        'src/turn/log/b.ts': '',
        'src/turn/loop/b.ts': '',
        'src/turn/b.ts': '',
      }),
      table,
    )

  it.each([
    ['src/turn/log/a.ts', "import '../b.ts'", 'turn/log', 'turn/.'],
    ['src/turn/log/a.ts', "import type { B } from '../loop/b.ts'", 'turn/log', 'turn/loop'],
    ['src/turn/a.ts', "import './loop/b.ts'", 'turn/.', 'turn/loop'],
  ])('refuses that %s does %s', (path, text, from, to) => {
    expect(violations(path, text)).toEqual([`${path}:1: \`${from}\` may not import \`${to}\``])
  })

  it.each([
    ['src/turn/loop/a.ts', "import '../b.ts'\nimport '../log/b.ts'\nimport './b.ts'"],
    ['src/turn/a.ts', "import './log/b.ts'\nimport '../core/x.ts'"],
    ['src/turn/index.ts', "import './loop/b.ts'"],
    ['src/turn/log/a.test.ts', "import '../loop/b.ts'"],
    ['src/core/json/a.ts', "import '../a.ts'"],
  ])('lets %s do so: %s', (path, text) => {
    expect(violations(path, text)).toEqual([])
  })

  it('refuses a room that is not in the table', () => {
    expect(violations('src/turn/attic/a.ts', '')).toHaveLength(1)
  })
})

describe('crowdViolations', () => {
  it('refuses a folder with too many files, tests not counted', () => {
    const tree = treeOf({
      'src/a/a.ts': '',
      'src/a/b.ts': '',
      'src/a/b.test.ts': '',
      'src/a/c/a.ts': '',
    })
    expect(crowdViolations(tree, 2)).toEqual([])
    expect(crowdViolations(tree, 1)).toEqual([
      'src/a: 2 files beside each other; give it rooms, 1 is the most',
    ])
  })
})

describe('nodeImportViolations', () => {
  it.each([
    "import 'node:fs'",
    "import 'fs'",
    "import { readFile } from 'fs/promises'",
    "import type { Readable } from 'node:stream'",
    "const fs = () => import('node:fs')",
    "type R = import('node:stream').Readable",
  ])('refuses %s below the leaves', (text) => {
    expect(nodeImportViolations(treeOf({ 'src/turn/a.ts': text }), layers)).toHaveLength(1)
    expect(nodeImportViolations(treeOf({ 'src/index.ts': text }), layers)).toHaveLength(1)
    expect(nodeImportViolations(treeOf({ 'src/stores/fs/a.ts': text }), layers)).toEqual([])
  })

  it('allows it in the file of a `node` condition, and in no other named alike', () => {
    const tree = treeOf({
      'src/core/hash.node.ts': "import 'node:crypto'",
      'src/core/hash.portable.ts': "import 'node:crypto'",
      'src/core/clock.node.ts': "import 'node:os'",
    })
    expect(nodeImportViolations(tree, layers)).toEqual([
      expect.stringContaining('src/core/hash.portable.ts:1: imports `node:crypto`'),
      expect.stringContaining('src/core/clock.node.ts:1: imports `node:os`'),
    ])
  })
})

describe('missingFileViolations', () => {
  it('refuses an import that leads nowhere', () => {
    const tree = treeOf({ 'src/core/a.ts': "import './gone.ts'\nimport '#hash'" })
    expect(missingFileViolations(tree)).toHaveLength(2)
  })
})

describe('cycleViolations', () => {
  it('finds a cycle through a re-export, a type import and a lazy import', () => {
    const tree = treeOf({
      'src/core/a.ts': "export { b } from './b.ts'",
      'src/core/b.ts': "import type { C } from './c.ts'",
      'src/core/c.ts': "const a = () => import('./a.ts')",
    })
    expect(cycleViolations(tree)).toEqual([
      'import cycle: src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts',
    ])
  })

  it('finds a cycle through a `#` import and a file that imports itself', () => {
    const tree = treeOf({
      'src/core/a.ts': "import '#hash'",
      'src/core/hash.node.ts': '',
      'src/core/hash.portable.ts': "import './a.ts'",
      'src/core/self.ts': "import './self.ts'",
    })
    expect(cycleViolations(tree)).toHaveLength(2)
  })

  it('accepts a diamond', () => {
    const tree = treeOf({
      'src/core/a.ts': "import './b.ts'\nimport './c.ts'",
      'src/core/b.ts': "import './d.ts'",
      'src/core/c.ts': "import './d.ts'",
      'src/core/d.ts': '',
    })
    expect(cycleViolations(tree)).toEqual([])
  })
})

describe('reachViolations', () => {
  const reached = (text: string) => treeOf({ 'src/index.ts': "import './b.ts'", 'src/b.ts': text })

  it.each([
    ["import 'openai'", 'openai'],
    ["import type { Message } from '@anthropic-ai/sdk/resources'", '@anthropic-ai/sdk'],
    ["const g = () => import('@google/genai')", '@google/genai'],
    ["import 'better-sqlite3'", 'better-sqlite3'],
    ["import 'node:sqlite'", 'node:sqlite'],
    ["import 'pg'", 'pg'],
  ])('follows the entry to %s', (text, name) => {
    const kinds = ['static', 'type', 'lazy'] as const
    expect(reachViolations(reached(text), 'src/index.ts', kinds, neverFromRoot)).toEqual([
      `src/index.ts reaches \`${name}\`: src/index.ts → src/b.ts → ${name}`,
    ])
  })

  it('tells a lazy import from a static one', () => {
    const judge = (text: string) =>
      reachViolations(reached(text), 'src/index.ts', ['static'], onlyLazilyFromRoot)
    expect(judge("import { encode } from 'gpt-tokenizer/encoding/o200k_base'")).toHaveLength(1)
    expect(judge("export { RE2JS } from 're2js'")).toHaveLength(1)
    expect(judge("const r = () => import('re2js')")).toEqual([])
    expect(judge("import type { RE2JS } from 're2js'")).toEqual([])
  })

  it('ignores what the entry does not reach, and names that only begin alike', () => {
    const tree = treeOf({ 'src/index.ts': "import 'pg-types'", 'src/b.ts': "import 'openai'" })
    expect(reachViolations(tree, 'src/index.ts', ['static'], neverFromRoot)).toEqual([])
  })
})

describe('syntaxViolations', () => {
  it.each([
    "export * from './b.ts'",
    "export * as b from './b.ts'",
    "export type * from './b.ts'",
    'export default class A {}',
    'const a = 1\nexport { a as default }',
    "export { default } from './b.ts'",
    'const load = (name: string) => import(name)',
  ])('refuses %s', (text) => {
    expect(syntaxViolations(treeOf({ 'src/core/a.ts': text }))).toHaveLength(1)
  })

  it('accepts named exports', () => {
    const text = "export const a = 1\nexport { b } from './b.ts'"
    expect(syntaxViolations(treeOf({ 'src/core/a.ts': text }))).toEqual([])
  })
})

describe('lengthViolations', () => {
  it('counts lines, with a larger allowance for tests', () => {
    const limits = { source: 3, test: 5 }
    const judge = (path: string, lines: number) =>
      lengthViolations(treeOf({ [path]: '//\n'.repeat(lines) }), limits)
    expect(judge('src/core/a.ts', 3)).toEqual([])
    expect(judge('src/core/a.ts', 4)).toHaveLength(1)
    expect(judge('src/core/a.test.ts', 5)).toEqual([])
    expect(judge('src/core/a.test.ts', 6)).toHaveLength(1)
  })
})

describe('nameViolations', () => {
  const judge = (path: string) => nameViolations([path], vagueWords, vagueNames)

  it.each([
    'src/core/utils.ts',
    'src/core/string-utils.ts',
    'src/core/helpers.test.ts',
    'src/turn/session-manager.ts',
    'src/core/types.ts',
    'src/common/a.ts',
    'src/core/base.ts',
    'src/core/ToolCall.ts',
    'src/core/tool_call.ts',
  ])('refuses %s', (path) => {
    expect(judge(path)).toHaveLength(1)
  })

  it.each([
    'src/core/hash.node.ts',
    'src/core/base64.ts',
    'src/core/record-base.ts',
    'src/spool/mime-types.ts',
    'src/records/tool-call.test.ts',
  ])('accepts %s', (path) => {
    expect(judge(path)).toEqual([])
  })
})
