import { readdirSync, readFileSync } from 'node:fs'
import { inRoot } from '../project.mjs'
import { apiReference } from './api-reference.mjs'
import { errorReference } from './error-reference.mjs'
import { withSamples } from './samples.mjs'

/** @param {string} path */
export const readPage = (path) => readFileSync(inRoot(path), 'utf8').replaceAll('\r\n', '\n')

/** The generated pages, as they should be. Needs an up-to-date dist/. */
export function generatedPages() {
  return new Map([['docs/errors.md', errorReference()], ...apiReference()])
}

/** The pages that people write. */
export function writtenPages() {
  const docs = readdirSync(inRoot('docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && path !== 'docs/errors.md')
    .filter((path) => !path.startsWith('docs/api/'))
  const papers = ['CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'RELEASING.md', 'SECURITY.md']
  return ['AGENTS.md', 'README.md', ...papers, ...docs.sort()]
}

/** Every page as it should be: generated, or written with its samples filled in. */
export function pagesAsTheyShouldBe() {
  const written = writtenPages().map(
    (path) => /** @type {const} */ ([path, withSamples(readPage(path), readPage)]),
  )
  return new Map([...written, ...generatedPages()])
}
