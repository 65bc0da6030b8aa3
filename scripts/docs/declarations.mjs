import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'

/**
 * @typedef {object} Declaration
 * @property {string} name
 * @property {'class' | 'function' | 'constant' | 'interface' | 'type'} kind
 * @property {string} comment what TSDoc says, as one line; empty when there is none
 * @property {string} code the declarations as the compiler wrote them, without what is private
 * @property {string[]} places where it is declared, one for each part
 * @property {{ path: string, type: string }[]} types that it names, and the file that does
 * @property {boolean} isGeneric
 * @property {boolean} isLocal true where its own file does not export it
 */

/** @type {Map<string, ReturnType<typeof parseFile>>} */
const parsed = new Map()

/** @param {string} path */
function parseFile(path) {
  const text = readFileSync(path, 'utf8')
  const { program, comments, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new SyntaxError(`${path}: ${error.message}`)
  return { text, program, comments }
}

/** @param {string} path */
export function fileAt(path) {
  const known = parsed.get(path) ?? parseFile(path)
  parsed.set(path, known)
  return known
}

/**
 * Every name that a declaration file exports, sorted, with its declaration wherever that is.
 *
 * @param {string} path
 * @returns {Declaration[]}
 */
export function exportsOf(path) {
  /** @type {Declaration[]} */
  const found = []
  for (const statement of fileAt(path).program.body) {
    if (statement.type !== 'ExportNamedDeclaration') continue
    for (const { exported, local } of statement.specifiers) {
      const source = statement.source?.value
      const from = source === undefined ? path : besides(path, source)
      found.push({ ...declarationOf(from, nameOf(local)), name: nameOf(exported) })
    }
    for (const name of namesDeclaredBy(statement)) found.push(declarationOf(path, name))
  }
  const byName = new Map(found.map((declaration) => [declaration.name, declaration]))
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Every declaration that others name, at any remove, and that is not known yet. A type that its own file does not export
 * is shown with the one that names it. Generic aliases compute types and need no name in users' code: they are left out.
 *
 * @param {readonly Declaration[]} declarations
 * @param {readonly Declaration[]} known
 * @returns {Declaration[]}
 */
export function namedBy(declarations, known) {
  const seen = new Set(known.flatMap(({ places }) => places))
  const waiting = declarations.map((one) => ({ one, owner: one }))
  /** @type {Declaration[]} */
  const found = []
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { path, type } of next.one.types) {
      const declaration = findDeclaration(path, type)
      if (declaration === undefined || declaration.places.some((place) => seen.has(place))) continue
      for (const place of declaration.places) seen.add(place)
      const isAlias = declaration.kind === 'type' && declaration.isGeneric
      if (declaration.isLocal && !isAlias) next.owner.code += `\n${declaration.code}`
      const isFound = !declaration.isLocal && !isAlias
      if (isFound) found.push(declaration)
      waiting.push({ one: declaration, owner: isFound ? declaration : next.owner })
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * @param {string} path
 * @param {string} name
 * @returns {Declaration}
 */
function declarationOf(path, name) {
  const found = findDeclaration(path, name)
  if (found === undefined) throw new Error(`\`${path}\` does not declare \`${name}\`.`)
  return found
}

/**
 * The declaration behind a name; undefined for one of another package or of the language.
 *
 * @param {string} path
 * @param {string} name
 * @returns {Declaration | undefined}
 */
function findDeclaration(path, name) {
  const { program, text } = fileAt(path)
  const own = program.body.filter((statement) => namesDeclaredBy(statement).includes(name))
  if (own.length === 0) return declaredElsewhere(path, name)
  const place = `${path}#${name}`
  const comments = own.map((statement) => commentBefore(path, statement.start))
  const kinds = own.map(kindOf)
  const codes = own.map((statement) => publicCode(text.slice(statement.start, statement.end)))
  return {
    name,
    kind: kinds.find((kind) => kind !== 'interface') ?? 'interface',
    comment: comments.find((comment) => comment !== '') ?? '',
    code: codes.join('\n'),
    places: [place],
    types: own.flatMap((statement) => typesIn(statement).map((type) => ({ path, type }))),
    isLocal: own.every((statement) => statement.type !== 'ExportNamedDeclaration'),
    isGeneric: own.some((statement) =>
      Boolean(/** @type {any} */ (declared(statement)).typeParameters),
    ),
    ...typedApart(path, own, place),
  }
}

/**
 * A class whose constructor is typed by itself is an interface and a constant of one name: what it has stands
 * in the class behind the one, and how it is made in the type of the other.
 *
 * @param {string} path
 * @param {ReturnType<typeof fileAt>['program']['body']} statements
 * @param {string} place
 * @returns {Pick<Declaration, 'kind' | 'code' | 'types' | 'places'> | undefined}
 */
function typedApart(path, statements, place) {
  const names = statements.map(declared).map((inner) => {
    if (inner?.type === 'TSInterfaceDeclaration') return inner.extends[0]?.expression
    if (inner?.type !== 'VariableDeclaration') return undefined
    const type = inner.declarations[0]?.id.typeAnnotation?.typeAnnotation
    return type?.type === 'TSTypeReference' ? type.typeName : undefined
  })
  const behind = names.flatMap((each) => (each?.type === 'Identifier' ? [each.name] : []))
  if (statements.length !== 2 || behind.length !== 2) return undefined
  const parts = behind.map((each) => declarationOf(path, each))
  return {
    kind: 'class',
    code: parts.map(({ code }) => code).join('\n'),
    types: parts.flatMap(({ types }) => types),
    places: [place, ...parts.flatMap(({ places }) => places)],
  }
}

/** @param {string} path @param {string} name @returns {Declaration | undefined} */
function declaredElsewhere(path, name) {
  for (const statement of fileAt(path).program.body) {
    const source = 'source' in statement ? statement.source?.value : undefined
    if (!source?.startsWith('.') || !('specifiers' in statement)) continue
    for (const specifier of statement.specifiers) {
      if (specifier.type === 'ExportSpecifier' && nameOf(specifier.exported) === name) {
        return findDeclaration(besides(path, source), nameOf(specifier.local))
      }
      if (specifier.type === 'ImportSpecifier' && specifier.local.name === name) {
        return findDeclaration(besides(path, source), nameOf(specifier.imported))
      }
    }
  }
  return undefined
}

/** The names of types in a part of a declaration. @param {unknown} node @returns {string[]} */
function typesIn(node) {
  if (Array.isArray(node)) return node.flatMap(typesIn)
  if (typeof node !== 'object' || node === null) return []
  const { type, typeName, expression } = /** @type {Record<string, any>} */ (node)
  const named = type === 'TSTypeReference' ? typeName : type === 'TSInterfaceHeritage' && expression
  const own = named?.type === 'Identifier' ? [named.name] : []
  return [...own, ...Object.values(node).flatMap(typesIn)]
}

/** @param {import('oxc-parser').Statement | import('oxc-parser').Directive} statement @returns {string[]} */
function namesDeclaredBy(statement) {
  const inner = declared(statement)
  if (inner === undefined || inner === null) return []
  if (inner.type === 'VariableDeclaration') {
    return inner.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
  }
  const id = 'id' in inner ? inner.id : undefined
  return id?.type === 'Identifier' ? [id.name] : []
}

/** @param {import('oxc-parser').Statement | import('oxc-parser').Directive} statement */
function declared(statement) {
  return statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
}

/** @param {import('oxc-parser').Statement | import('oxc-parser').Directive} statement @returns {Declaration['kind']} */
function kindOf(statement) {
  switch (declared(statement)?.type) {
    case 'ClassDeclaration':
      return 'class'
    case 'VariableDeclaration':
      return 'constant'
    case 'TSInterfaceDeclaration':
      return 'interface'
    case 'TSTypeAliasDeclaration':
      return 'type'
    default:
      return 'function'
  }
}

/**
 * What the TSDoc comment right before an offset says, as one paragraph per blank line.
 *
 * @param {string} path
 * @param {number} offset
 */
export function commentBefore(path, offset) {
  const { comments, text } = fileAt(path)
  const comment = comments.findLast(({ end }) => end <= offset)
  if (comment === undefined || !comment.value.startsWith('*')) return ''
  if (text.slice(comment.end, offset).trim() !== '') return ''
  const lines = comment.value.slice(1).split('\n')
  const prose = lines.map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
  return prose.join('\n').trim()
}

/** @param {string} code */
function publicCode(code) {
  return code
    .replace(/^export (declare )?/, '')
    .split('\n')
    .filter((line) => !/^\s*(#private|private )/.test(line))
    .join('\n')
    .replaceAll(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2))
}

/** @param {string} path @param {string} source */
function besides(path, source) {
  return resolve(dirname(path), source.replace(/\.(?:js|ts)$/, '.d.ts'))
}

/** @param {{ type: string, name?: string, value?: unknown }} node */
function nameOf(node) {
  return node.name ?? String(node.value)
}
