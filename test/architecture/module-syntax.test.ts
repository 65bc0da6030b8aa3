import { describe, expect, it } from 'vitest'
import { readModuleSyntax } from './module-syntax.ts'

const importsOf = (text: string) =>
  readModuleSyntax('src/core/a.ts', text).imports.map(({ specifier, kind }) => [specifier, kind])

describe('readModuleSyntax', () => {
  it.each([
    ["import './b.ts'", 'static'],
    ["import b from './b.ts'", 'static'],
    ["import * as b from './b.ts'", 'static'],
    ["import { type B } from './b.ts'", 'static'],
    ["import json from './b.ts' with { type: 'json' }", 'static'],
    ["export { b } from './b.ts'", 'static'],
    ["export * from './b.ts'", 'static'],
    ["const b = require('./b.ts')", 'static'],
    ["import b = require('./b.ts')", 'static'],
    ["import type { B } from './b.ts'", 'type'],
    ["export type { B } from './b.ts'", 'type'],
    ["export type * from './b.ts'", 'type'],
    ["type B = import('./b.ts').B", 'type'],
    ["type B = typeof import('./b.ts')", 'type'],
    ["const f = <T>(x: import('./b.ts').B<T>) => x", 'type'],
    ["const b = await import('./b.ts')", 'lazy'],
    ['const b = () => import(`./b.ts`)', 'lazy'],
  ])('sees %s', (text, kind) => {
    expect(importsOf(text)).toEqual([['./b.ts', kind]])
  })

  it.each([
    ["a comment: // import './b.ts'"],
    ['a string: const s = "import \'./b.ts\'"'],
    ["a template: const s = `import './b.ts'`"],
    ["a regular expression: const r = /import '.\\/b.ts'/"],
  ])('ignores the word in %s', (text) => {
    expect(importsOf(text.slice(text.indexOf(': ') + 2))).toEqual([])
  })

  it('tells the line', () => {
    const { imports } = readModuleSyntax('src/a.ts', "\n\nimport './b.ts'\n")
    expect(imports[0]?.line).toBe(3)
  })

  it('sees every form of default export and star export', () => {
    const text = `export default 1\nexport { a as default }\nexport * from './b.ts'\nexport * as c from './c.ts'\n`
    const syntax = readModuleSyntax('src/a.ts', text)
    expect(syntax.defaultExports).toEqual([1, 2])
    expect(syntax.starExports).toEqual([3, 4])
  })

  it('refuses text that does not parse, rather than seeing no imports in it', () => {
    expect(() => readModuleSyntax('src/a.ts', 'import {')).toThrow(SyntaxError)
  })
})
