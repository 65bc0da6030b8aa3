import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'

/**
 * @typedef {object} Declaration
 * @property {string} name
 * @property {'class' | 'function' | 'constant' | 'interface' | 'type'} kind
 * @property {string} comment what TSDoc says, as one line; empty when there is none
 * @property {string} code the declarations as the compiler wrote them, without what is private
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
 * @param {string} path
 * @param {string} name
 * @returns {Declaration}
 */
function declarationOf(path, name) {
  const { program, text } = fileAt(path)
  const own = program.body.filter((statement) => namesDeclaredBy(statement).includes(name))
  if (own.length === 0) return declaredElsewhere(path, name)
  const comments = own.map((statement) => commentBefore(path, statement.start))
  const kinds = own.map(kindOf)
  const codes = own.map((statement) => publicCode(text.slice(statement.start, statement.end)))
  return {
    name,
    kind: kinds.find((kind) => kind !== 'interface') ?? 'interface',
    comment: comments.find((comment) => comment !== '') ?? '',
    code: codes.join('\n'),
    ...typedApart(path, own),
  }
}

/**
 * A class whose constructor is typed by itself is an interface and a constant of one name: what it has stands
 * in the class behind the one, and how it is made in the type of the other.
 *
 * @param {string} path
 * @param {ReturnType<typeof fileAt>['program']['body']} statements
 * @returns {Pick<Declaration, 'kind' | 'code'> | undefined}
 */
function typedApart(path, statements) {
  const names = statements.map(declared).map((inner) => {
    if (inner?.type === 'TSInterfaceDeclaration') return inner.extends[0]?.expression
    if (inner?.type !== 'VariableDeclaration') return undefined
    const type = inner.declarations[0]?.id.typeAnnotation?.typeAnnotation
    return type?.type === 'TSTypeReference' ? type.typeName : undefined
  })
  const behind = names.flatMap((each) => (each?.type === 'Identifier' ? [each.name] : []))
  if (statements.length !== 2 || behind.length !== 2) return undefined
  const codes = behind.map((each) => declarationOf(path, each).code)
  return { kind: 'class', code: codes.join('\n') }
}

/** @param {string} path @param {string} name @returns {Declaration} */
function declaredElsewhere(path, name) {
  for (const statement of fileAt(path).program.body) {
    const source = 'source' in statement ? statement.source?.value : undefined
    if (source === undefined || !('specifiers' in statement)) continue
    for (const specifier of statement.specifiers) {
      if (specifier.type === 'ExportSpecifier' && nameOf(specifier.exported) === name) {
        return declarationOf(besides(path, source), nameOf(specifier.local))
      }
      if (specifier.type === 'ImportSpecifier' && specifier.local.name === name) {
        return declarationOf(besides(path, source), nameOf(specifier.imported))
      }
    }
  }
  throw new Error(`\`${path}\` does not declare \`${name}\`.`)
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
