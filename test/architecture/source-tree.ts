import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { type ImportReference, type ModuleSyntax, readModuleSyntax } from './module-syntax.ts'

/** `package.json`'s `imports`, with targets in `dist/`. */
export type PackageImports = Readonly<Record<string, string | Readonly<Record<string, string>>>>

export interface ResolvedImport extends ImportReference {
  /** Files of the tree that the import can lead to: several for a conditional `#` import. */
  readonly files: readonly string[]
  /** The package, or `node:x` for any spelling of a builtin, when it leads out of the tree. */
  readonly packageName: string | undefined
}

export interface SourceFile {
  readonly path: string
  readonly isTest: boolean
  readonly lines: number
  readonly syntax: ModuleSyntax
  readonly imports: readonly ResolvedImport[]
}

export interface SourceTree {
  readonly files: ReadonlyMap<string, SourceFile>
  /** Files that `imports` selects under the `node` condition. */
  readonly nodeOnly: ReadonlySet<string>
}

/** Reads a set of files (path from the project's root → text) into a tree that the rules judge. */
export function readSourceTree(
  texts: ReadonlyMap<string, string>,
  packageImports: PackageImports = {},
): SourceTree {
  const files = new Map<string, SourceFile>()
  for (const [path, text] of texts) {
    const syntax = readModuleSyntax(path, text)
    files.set(path, {
      path,
      isTest: /\.test(-d)?\.ts$/.test(path),
      lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
      syntax,
      imports: syntax.imports.map((reference) => resolve(path, reference, packageImports)),
    })
  }
  return { files, nodeOnly: new Set(nodeTargets(packageImports)) }
}

function resolve(
  path: string,
  reference: ImportReference,
  packageImports: PackageImports,
): ResolvedImport {
  const { specifier } = reference
  if (specifier.startsWith('.')) {
    const file = posix.join(posix.dirname(path), specifier)
    return { ...reference, files: [file], packageName: undefined }
  }
  const target = packageImports[specifier]
  if (target !== undefined) {
    const targets = typeof target === 'string' ? [target] : Object.values(target)
    return { ...reference, files: targets.map(sourceOf), packageName: undefined }
  }
  return { ...reference, files: [], packageName: packageNameOf(specifier) }
}

function packageNameOf(specifier: string): string {
  if (isBuiltin(specifier)) return `node:${specifier.replace(/^node:/, '').split('/')[0]}`
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function nodeTargets(packageImports: PackageImports): string[] {
  return Object.values(packageImports).flatMap((target) => {
    const node = typeof target === 'string' ? undefined : target['node']
    return node === undefined ? [] : [sourceOf(node)]
  })
}

/** The source that a built file comes from. */
export function sourceOf(built: string): string {
  return built.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')
}
