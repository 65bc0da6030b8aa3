import { matchesAny, type Violation } from './layer-rules.ts'
import type { ImportKind } from './module-syntax.ts'
import type { SourceTree } from './source-tree.ts'

/** Files that import each other in a circle, whatever the kind of import. */
export function cycleViolations(tree: SourceTree): Violation[] {
  const found: Violation[] = []
  const finished = new Set<string>()
  const trail: string[] = []
  const visit = (path: string) => {
    if (finished.has(path)) return
    const start = trail.indexOf(path)
    if (start !== -1) {
      found.push(`import cycle: ${[...trail.slice(start), path].join(' → ')}`)
      return
    }
    trail.push(path)
    for (const { files } of tree.files.get(path)?.imports ?? []) files.forEach(visit)
    trail.pop()
    finished.add(path)
  }
  for (const path of tree.files.keys()) visit(path)
  return found
}

/** Packages that an entry reaches through imports of the given kinds, though it must not. */
export function reachViolations(
  tree: SourceTree,
  entry: string,
  kinds: readonly ImportKind[],
  forbidden: readonly string[],
): Violation[] {
  const found: Violation[] = []
  const trails = new Map([[entry, entry]])
  // A Map visits what is added while it is walked: this is the whole breadth-first search.
  for (const [path, trail] of trails) {
    for (const { kind, files, packageName } of tree.files.get(path)?.imports ?? []) {
      if (!kinds.includes(kind)) continue
      for (const target of files) {
        if (!trails.has(target)) trails.set(target, `${trail} → ${target}`)
      }
      if (packageName !== undefined && matchesAny(packageName, forbidden)) {
        found.push(`${entry} reaches \`${packageName}\`: ${trail} → ${packageName}`)
      }
    }
  }
  return found
}
