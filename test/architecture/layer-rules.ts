import { posix } from 'node:path'
import type { LayerTable } from '../layers.ts'
import type { SourceFile, SourceTree } from './source-tree.ts'

/** One broken rule: where, and what to do about it. */
export type Violation = string

const entryUnit = 'entry'

/** Imports that go up the table, sideways on a row, or from leaf to leaf without leave. */
export function layerViolations(tree: SourceTree, table: LayerTable): Violation[] {
  const found: Violation[] = []
  for (const file of judged(tree)) {
    const from = unitOf(file.path, table)
    if (from === undefined) {
      found.push(`${file.path}: its folder is not in the layer table (test/layers.ts)`)
      continue
    }
    for (const { files, line } of file.imports) {
      for (const target of files) {
        const to = unitOf(target, table)
        if (to === undefined || mayImport(from, to, table)) continue
        found.push(`${file.path}:${line}: \`${from}\` may not import \`${to}\` (${target})`)
      }
    }
  }
  return found
}

/** Imports between the rooms of one folder that go up, and rooms that the table does not name. */
export function roomViolations(tree: SourceTree, table: LayerTable): Violation[] {
  const found: Violation[] = []
  for (const file of judged(tree)) {
    const folder = unitOf(file.path, table) ?? ''
    const rooms = table.rooms[folder]
    if (rooms === undefined) continue
    const from = roomOf(file.path, folder)
    if (from !== ENTRY_ROOM && !rooms.includes(from)) {
      found.push(`${file.path}: \`${from}\` is not in the rooms of \`${folder}\` (test/layers.ts)`)
      continue
    }
    for (const { files, line } of file.imports) {
      for (const target of files) {
        if (unitOf(target, table) !== folder) continue
        const to = roomOf(target, folder)
        if (from === ENTRY_ROOM || rooms.indexOf(to) <= rooms.indexOf(from)) continue
        found.push(`${file.path}:${line}: \`${folder}/${from}\` may not import \`${folder}/${to}\``)
      }
    }
  }
  return found
}

/** The room of a folder's `index.ts`, which stands above the others. */
const ENTRY_ROOM = 'index.ts'

/** The folder inside `folder` that a file belongs to; `.` for files directly in it. */
function roomOf(path: string, folder: string): string {
  const [first = '', ...rest] = path.slice(`src/${folder}/`.length).split('/')
  if (rest.length > 0) return first
  return first === ENTRY_ROOM ? ENTRY_ROOM : '.'
}

/** Imports of Node's own modules below the leaves; browsers and workers have none. */
export function nodeImportViolations(tree: SourceTree, table: LayerTable): Violation[] {
  const found: Violation[] = []
  for (const file of judged(tree)) {
    if (tree.nodeOnly.has(file.path)) continue
    const unit = unitOf(file.path, table)
    if (unit !== undefined && isLeaf(unit, table)) continue
    for (const { packageName, line } of file.imports) {
      if (!packageName?.startsWith('node:')) continue
      found.push(
        `${file.path}:${line}: imports \`${packageName}\` below the leaves; use a web API, or a ` +
          '`node` condition in the `imports` of package.json',
      )
    }
  }
  return found
}

/** Imports that lead to no file; fixtures and JSON are not read. */
export function missingFileViolations(tree: SourceTree): Violation[] {
  return [...tree.files.values()].flatMap((file) =>
    file.imports.flatMap(({ files, line, specifier }) =>
      files.some((target) => !/\.json$|\/fixtures\//.test(target) && !tree.files.has(target))
        ? [`${file.path}:${line}: \`${specifier}\` leads to no file`]
        : [],
    ),
  )
}

/** Tests stand outside the table: they may use any part to prove one. */
function judged(tree: SourceTree): SourceFile[] {
  return [...tree.files.values()].filter((file) => file.path.startsWith('src/') && !file.isTest)
}

/** The folder of the table that a file belongs to; `entry` for files directly in `src/`. */
function unitOf(path: string, table: LayerTable): string | undefined {
  if (!path.startsWith('src/')) return undefined
  const [first = '', second = ''] = posix.dirname(path.slice('src/'.length)).split('/')
  if (first === '.') return entryUnit
  if (table.rows.some((row) => row.includes(first))) return first
  if (table.leaves.includes(first)) return first
  return table.leaves.includes(`${first}/*`) && second !== '' ? `${first}/${second}` : undefined
}

function mayImport(from: string, to: string, table: LayerTable): boolean {
  if (from === to) return true
  if (to === entryUnit) return false
  if (isLeaf(to, table)) {
    return matchesAny(to, table.leafImports[from] ?? [])
  }
  return rowOf(to, table) < rowOf(from, table)
}

function isLeaf(unit: string, table: LayerTable): boolean {
  return unit !== entryUnit && !table.rows.some((row) => row.includes(unit))
}

/** Leaves and entries stand above every row. */
function rowOf(unit: string, table: LayerTable): number {
  const index = table.rows.findIndex((row) => row.includes(unit))
  return index === -1 ? table.rows.length : index
}

/** Patterns are a name, `x/*` or `*`. */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )
}
