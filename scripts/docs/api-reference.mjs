import { inRoot, readJson } from '../project.mjs'
import { exportsOf, namedBy } from './declarations.mjs'

/**
 * @typedef {object} Subpath
 * @property {string} name as users import it
 * @property {string} page of the reference
 * @property {import('./declarations.mjs').Declaration[]} declarations
 */

const HEADINGS = {
  class: 'Classes',
  function: 'Functions',
  constant: 'Constants',
  interface: 'Interfaces',
  type: 'Types',
}
const KINDS = /** @type {(keyof typeof HEADINGS)[]} */ (Object.keys(HEADINGS))

/** Every subpath of the package with what its built declarations export. @returns {Subpath[]} */
export function publicSubpaths() {
  /** @type {Record<string, string | { types: string }>} */
  const entries = readJson(inRoot('package.json')).exports
  return Object.entries(entries)
    .flatMap(([path, target]) => {
      if (typeof target === 'string') return []
      const name = `bobbin-adk${path.slice(1)}`
      const page = `docs/api/${path === '.' ? 'bobbin-adk' : path.slice(2)}.md`
      return [{ name, page, declarations: exportsOf(inRoot(target.types.slice(2))) }]
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The pages of the reference by path. @returns {Map<string, string>} */
export function apiReference() {
  const subpaths = publicSubpaths()
  unexportedTypes(subpaths)
  /** @type {Map<string, string>} */
  const pages = new Map([['docs/api/index.md', indexOf(subpaths)]])
  for (const subpath of subpaths) pages.set(subpath.page, pageOf(subpath))
  return pages
}

/**
 * The types that public declarations name and no subpath exports: users' code could not name them. Types that are local to
 * a file become part of the declaration that names them.
 *
 * @param {Subpath[]} subpaths
 */
export function unexportedTypes(subpaths) {
  const known = subpaths.flatMap(({ declarations }) => declarations)
  return subpaths.flatMap(({ name, declarations }) => {
    const named = namedBy(declarations, known)
    known.push(...named)
    return named.map((each) => `${name} ${each.name}`)
  })
}

const NOTICE = '<!-- Generated from the declarations in dist/ by `npm run docs`. Do not edit. -->'

/** @param {Subpath[]} subpaths */
function indexOf(subpaths) {
  const sections = subpaths.map(({ name, page, declarations }) => {
    const file = page.slice('docs/api/'.length)
    const lines = declarations.map(
      (declaration) =>
        `| [\`${declaration.name}\`](${file}#${anchorOf(declaration)}) | ${declaration.kind} | ${cell(firstSentence(declaration.comment))} |`,
    )
    return `## [\`${name}\`](${file})\n\n| name | what | in one sentence |\n|---|---|---|\n${lines.join('\n')}`
  })
  return `${NOTICE}\n\n# API\n\nEvery public name, by the subpath that exports it.\n\n${sections.join('\n\n')}\n`
}

/** @param {Subpath} subpath */
function pageOf({ name, declarations }) {
  const sections = KINDS.flatMap((kind) => {
    const own = declarations.filter((declaration) => declaration.kind === kind)
    return own.length === 0 ? [] : [`## ${HEADINGS[kind]}\n\n${own.map(entryOf).join('\n\n')}`]
  })
  return `${NOTICE}\n\n# \`${name}\`\n\n${sections.join('\n\n')}\n`
}

/** @param {import('./declarations.mjs').Declaration} declaration */
function entryOf({ name, comment, code }) {
  if (name === 'ErrorData') {
    return `### \`${name}\`\n\nAn interface whose keys are the codes and whose values are the shapes of their \`data\`: all of them are on the page of [errors](../errors.md).`
  }
  const prose = comment === '' ? '' : `${comment}\n\n`
  return `### \`${name}\`\n\n${prose}\`\`\`ts\n${code}\n\`\`\``
}

/** @param {{ name: string }} declaration */
function anchorOf({ name }) {
  return name.toLowerCase()
}

/** @param {string} comment */
function firstSentence(comment) {
  return comment.replaceAll(/\s+/g, ' ').split(/(?<=\.) (?=[A-Z`-])/)[0] ?? ''
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|')
}
