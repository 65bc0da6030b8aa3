import { parseSync, Visitor } from 'oxc-parser'

/** How a file refers to another: loaded at once, for a type alone, or when first needed. */
export type ImportKind = 'static' | 'type' | 'lazy'

export interface ImportReference {
  readonly specifier: string
  readonly kind: ImportKind
  readonly line: number
}

export interface ModuleSyntax {
  readonly imports: readonly ImportReference[]
  /** Lines with `export * from` or `export * as x from`. */
  readonly starExports: readonly number[]
  readonly defaultExports: readonly number[]
  /** Lines where `import()` or `require` is given something other than a literal. */
  readonly computedImports: readonly number[]
}

/** What a TypeScript file imports and how it exports, read by a real parser. */
export function readModuleSyntax(path: string, text: string): ModuleSyntax {
  const { program, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new SyntaxError(`${path}: ${error.message}`)

  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  const imports: ImportReference[] = []
  const starExports: number[] = []
  const defaultExports: number[] = []
  const computedImports: number[] = []
  const add = (specifier: string, kind: ImportKind, offset: number) =>
    imports.push({ specifier, kind, line: lineOf(offset) })

  new Visitor({
    ImportDeclaration(node) {
      // A type import is erased whole; `import { type A }` still loads the module.
      add(node.source.value, node.importKind === 'type' ? 'type' : 'static', node.start)
    },
    ExportNamedDeclaration(node) {
      const isDefault = node.specifiers.some(({ exported }) => nameOf(exported) === 'default')
      if (isDefault) defaultExports.push(lineOf(node.start))
      if (node.source === null) return
      add(node.source.value, node.exportKind === 'type' ? 'type' : 'static', node.start)
    },
    ExportAllDeclaration(node) {
      starExports.push(lineOf(node.start))
      add(node.source.value, node.exportKind === 'type' ? 'type' : 'static', node.start)
    },
    ExportDefaultDeclaration(node) {
      defaultExports.push(lineOf(node.start))
    },
    TSImportType(node) {
      add(node.source.value, 'type', node.start)
    },
    TSImportEqualsDeclaration(node) {
      const reference = node.moduleReference
      if (reference.type !== 'TSExternalModuleReference') return
      add(reference.expression.value, node.importKind === 'type' ? 'type' : 'static', node.start)
    },
    ImportExpression(node) {
      const specifier = literalText(node.source)
      if (specifier === undefined) computedImports.push(lineOf(node.start))
      else add(specifier, 'lazy', node.start)
    },
    CallExpression(node) {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'require') return
      const specifier = literalText(node.arguments[0])
      if (specifier === undefined) computedImports.push(lineOf(node.start))
      else add(specifier, 'static', node.start)
    },
  }).visit(program)

  return { imports, starExports, defaultExports, computedImports }
}

function nameOf(name: { type: string; name?: string; value?: string }): string | undefined {
  return name.type === 'Literal' ? name.value : name.name
}

/** The text of a string or of a template without substitutions. */
function literalText(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  const { type, value, quasis } = node as {
    type: string
    value?: unknown
    quasis?: { value: { cooked: string | null } }[]
  }
  if (type === 'Literal' && typeof value === 'string') return value
  if (type === 'TemplateLiteral' && quasis?.length === 1)
    return quasis[0]?.value.cooked ?? undefined
  return undefined
}
