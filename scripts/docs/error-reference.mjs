import { inRoot } from '../project.mjs'
import { commentBefore, fileAt } from './declarations.mjs'

const SOURCE = inRoot('src', 'core', 'error', 'error-codes.ts')

/**
 * @typedef {object} ErrorEntry
 * @property {string} code
 * @property {string} meaning one sentence; empty when the code has no comment
 * @property {string} wayOut what to do about it; may be empty
 * @property {string} data the type of the error's `data`
 */

/** @returns {ErrorEntry[]} every code with what its comment says */
export function errorEntries() {
  const { text } = fileAt(SOURCE)
  const codes = declared().find(({ id }) => id.name === 'ErrorData')
  if (codes?.type !== 'TSInterfaceDeclaration') throw new Error('There is no `ErrorData`.')
  return codes.body.body.flatMap((member) => {
    if (member.type !== 'TSPropertySignature' || member.key.type !== 'Identifier') return []
    const words = commentBefore(SOURCE, member.start).replaceAll(/\s+/g, ' ')
    const [meaning = '', ...rest] = words.split(/(?<=\.) (?=[A-Z`])/)
    const type = member.typeAnnotation?.typeAnnotation
    const data = type === undefined ? '' : plainType(text.slice(type.start, type.end))
    return [{ code: member.key.name, meaning, wayOut: rest.join(' '), data }]
  })
}

/** The page `docs/errors.md`. */
export function errorReference() {
  const entries = errorEntries()
  const { text } = fileAt(SOURCE)
  const shapes = declared().flatMap((node) => {
    const { name } = node.id
    if (name === 'ErrorData' || name === 'ErrorCode') return []
    const code = text.slice(node.start, node.end)
    return [`### \`${name}\`\n\n${commentAt(node.start)}\n\n\`\`\`ts\n${code}\n\`\`\``]
  })
  const sections = entries.map(({ code, meaning, wayOut, data }) =>
    [`### \`${code}\``, meaning, wayOut, data && `\`data\`: \`${data}\``]
      .filter((part) => part !== '')
      .join('\n\n'),
  )
  return `<!-- Generated from src/core/error/error-codes.ts by \`npm run docs\`. Do not edit. -->

# Errors

Every error that the kit throws is a \`BobbinError\`: it has a \`code\` from this page and \`data\` of the shape that is given with it. Its message
names the thing, what was expected and the way out. \`isBobbinError(error, code)\` tells whether it is one, also across two installed copies,
and narrows \`data\`. What a model should read is not thrown: it is the result of its call. One exception: \`canonicalStringify\` throws a plain
\`TypeError\` for a \`BigInt\` and for a cycle, as \`JSON.stringify\` does.

${entries.length} codes.

## Codes

${sections.join('\n\n')}

## Shapes of \`data\` that have a name

${shapes.join('\n\n')}
`
}

/** The interfaces and type aliases of the file. */
function declared() {
  return fileAt(SOURCE).program.body.flatMap((statement) => {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null
    return node?.type === 'TSInterfaceDeclaration' || node?.type === 'TSTypeAliasDeclaration'
      ? [node]
      : []
  })
}

/** @param {number} offset of a declaration after its `export` */
function commentAt(offset) {
  return commentBefore(SOURCE, offset - 'export '.length).replaceAll(/\s+/g, ' ')
}

/** @param {string} type */
function plainType(type) {
  return type
    .replaceAll(/\breadonly /g, '')
    .replaceAll(/\s*\n\s*/g, '; ')
    .replaceAll('{; ', '{ ')
    .replace(/; \}$/, ' }')
}
