/** A line that says where the code block under it comes from. */
const MARKER = /^<!-- from (?<path>[\w./-]+?)(?:#(?<region>[\w-]+))? -->$/

/** Languages whose blocks are programs, and therefore need a file that runs. */
const PROGRAMS = new Set(['js', 'mjs', 'ts', 'mts', 'jsx', 'tsx', 'javascript', 'typescript'])

/**
 * @typedef {object} Block
 * @property {number} line of the opening fence, from 1
 * @property {string} language
 * @property {string | undefined} path of the file that its marker names
 * @property {string | undefined} region
 * @property {number} start index of the line of the opening fence
 * @property {number} end index of the line of the closing fence
 */

/**
 * The fenced blocks of a page of Markdown, with the markers above them.
 *
 * @param {string} page
 * @returns {Block[]}
 */
export function blocksOf(page) {
  const lines = page.split('\n')
  /** @type {Block[]} */
  const blocks = []
  for (let start = 0; start < lines.length; start++) {
    const [, fence, language] = /^ {0,3}(`{3,}|~{3,})\s*(\S*)/.exec(lines[start] ?? '') ?? []
    if (fence === undefined || language === undefined) continue
    const length = lines.slice(start + 1).findIndex((line) => line.trim() === fence)
    if (length < 0) throw new Error(`The code block at line ${start + 1} has no end.`)
    const marker = MARKER.exec(lines[start - 1] ?? '')?.groups
    const end = start + 1 + length
    const { path, region } = marker ?? {}
    blocks.push({ line: start + 1, language, path, region, start, end })
    start = end
  }
  return blocks
}

/**
 * The lines of program blocks that come from no file, so that nothing runs them.
 *
 * @param {string} page
 */
export function blocksWithoutSource(page) {
  return blocksOf(page)
    .filter(({ language, path }) => PROGRAMS.has(language.toLowerCase()) && path === undefined)
    .map(({ line }) => line)
}

/**
 * The page with every marked block filled from its file.
 *
 * @param {string} page
 * @param {(path: string) => string} readFile
 */
export function withSamples(page, readFile) {
  const lines = page.split('\n')
  for (const { path, region, start, end } of blocksOf(page).reverse()) {
    if (path === undefined) continue
    lines.splice(start + 1, end - start - 1, ...sampleOf(readFile(path), region, path))
  }
  return lines.join('\n')
}

/**
 * The lines of a region, or of the whole file, without indentation in common and without markers.
 *
 * @param {string} text
 * @param {string | undefined} region
 * @param {string} path
 */
function sampleOf(text, region, path) {
  let lines = text.trimEnd().split('\n')
  if (region !== undefined) {
    const start = lines.findIndex((line) => line.trim() === `// #region ${region}`)
    const end = lines.findIndex((line) => line.trim() === `// #endregion ${region}`)
    if (start < 0 || end < start) throw new Error(`\`${path}\` has no region \`${region}\`.`)
    lines = lines.slice(start + 1, end)
  }
  const kept = lines.filter((line) => !/^\s*\/\/ #(end)?region\b/.test(line))
  const indents = kept.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const indent = Math.min(...indents)
  return kept.map((line) => line.slice(indent))
}
