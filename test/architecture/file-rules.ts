import { posix } from 'node:path'
import type { Violation } from './layer-rules.ts'
import type { SourceTree } from './source-tree.ts'

/** `export *` hides what a module offers; `import()` of a computed name hides what it needs. */
export function syntaxViolations(
  tree: SourceTree,
  importsByName: readonly string[] = [],
): Violation[] {
  return [...tree.files.values()].flatMap(({ path, syntax }) => [
    ...syntax.starExports.map((line) => `${path}:${line}: \`export *\`; name what is exported`),
    ...syntax.defaultExports.map((line) => `${path}:${line}: default export; give it a name`),
    // A test may load what it has installed itself, at a path that only it knows.
    ...(path.startsWith('test/') || importsByName.includes(path) ? [] : syntax.computedImports).map(
      (line) => `${path}:${line}: import of a computed name`,
    ),
  ])
}

export function lengthViolations(
  tree: SourceTree,
  limits: { readonly source: number; readonly test: number },
): Violation[] {
  return [...tree.files.values()].flatMap(({ path, lines, isTest }) => {
    const limit = isTest ? limits.test : limits.source
    return lines > limit ? [`${path}: ${lines} lines; split it, ${limit} is the most`] : []
  })
}

/** Folders of `src/` with so many files that they hold several things. */
export function crowdViolations(tree: SourceTree, limit: number): Violation[] {
  const counts = new Map<string, number>()
  for (const { path, isTest } of tree.files.values()) {
    const folder = posix.dirname(path)
    if (!isTest && path.startsWith('src/')) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].flatMap(([folder, count]) =>
    count > limit
      ? [`${folder}: ${count} files beside each other; give it rooms, ${limit} is the most`]
      : [],
  )
}

/** Names that are not kebab-case or that say nothing about what is inside. */
export function nameViolations(
  paths: Iterable<string>,
  vagueWords: readonly string[],
  vagueNames: readonly string[],
): Violation[] {
  return [...paths].flatMap((path) => {
    const names = path.split('/').map((part) => part.split('.')[0] ?? '')
    return names.flatMap((name) => {
      if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return [`${path}: \`${name}\` is not kebab-case`]
      const vague = vagueNames.includes(name) || name.split('-').some((w) => vagueWords.includes(w))
      return vague ? [`${path}: \`${name}\` says nothing; name the concept`] : []
    })
  })
}
