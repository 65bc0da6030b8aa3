import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inRoot } from '../scripts/project.mjs'

const FOLDERS = ['.github', 'bench', 'docs', 'examples', 'scripts', 'src', 'test']
const TEXT = /\.(json|md|mjs|ts|yml)$/

function textFiles(): string[] {
  const top = readdirSync(inRoot(), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
  const deeper = FOLDERS.flatMap((folder) =>
    readdirSync(inRoot(folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${folder}/${path.replaceAll('\\', '/')}`,
    ),
  )
  return [...top, ...deeper].filter((path) => TEXT.test(path) && !path.includes('node_modules/'))
}

describe('the name of the command', () => {
  it('is `npx bobbin-adk` wherever npx runs it: `bobbin` on npm is a package of somebody else', () => {
    const places = textFiles().flatMap((path) =>
      readFileSync(inRoot(path), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          /\bnpx (-\S+ )*bobbin(?!-adk)\b/.test(line) ? [`${path}:${index + 1}`] : [],
        ),
    )
    expect(places).toEqual([])
  })
})
