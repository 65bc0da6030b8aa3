import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { publicSubpaths, unexportedTypes } from '../scripts/docs/api-reference.mjs'
import { errorEntries } from '../scripts/docs/error-reference.mjs'
import {
  generatedPages,
  pagesAsTheyShouldBe,
  readPage,
  writtenPages,
} from '../scripts/docs/pages.mjs'
import { blocksOf, blocksWithoutSource } from '../scripts/docs/samples.mjs'
import { ensureBuilt } from '../scripts/ensure-built.mjs'
import { inRoot } from '../scripts/project.mjs'
import { COMMANDS } from '../src/cli/command-table.ts'
import { publicExports } from './consumer/public-exports.ts'
import { shellLines } from './shell-lines.ts'

beforeAll(async () => {
  const { code, output } = await ensureBuilt()
  if (code !== 0) throw new Error(output)
}, 60_000)

describe('the samples in the documents', () => {
  it('come from files, each of them', () => {
    const without = writtenPages().flatMap((path) =>
      blocksWithoutSource(readPage(path)).map((line) => `${path}:${line}`),
    )
    expect(without).toEqual([])
  })

  it('come from the examples, which the tests run', () => {
    const paths = writtenPages().flatMap((page) => blocksOf(readPage(page)).map(({ path }) => path))
    const sources = paths.filter((path) => path !== undefined)
    expect(sources).not.toEqual([])
    expect(sources.filter((path) => !/^examples\/.+\.mjs$/.test(path))).toEqual([])
  })
})

describe('the commands in the documents', () => {
  it('are scripts of the project, `npm ci` or `bobbin`, and nothing else', () => {
    const strange = shellLines().filter(
      ({ line }) => !(line === 'npm ci' || isScript(line) || /^npx bobbin-adk \w+/.test(line)),
    )
    expect(strange).toEqual([])
  })

  it('name commands and options of `bobbin` that there are', async () => {
    const shown = writtenPages().flatMap((page) => [
      ...readPage(page).matchAll(/`(?:npx bobbin-adk|bobbin) ([a-z]+)([^`]*)`/g),
    ])
    const typed = shellLines().flatMap(({ line }) => [
      ...line.matchAll(/^npx bobbin-adk (\w+)(.*)$/g),
    ])
    expect(shown.length + typed.length).toBeGreaterThan(10)
    for (const [text, name = '', rest = ''] of [...shown, ...typed]) {
      const command = await COMMANDS.find((each) => each.name === name)?.load()
      const options = Object.entries(command?.options ?? {}).flatMap(([long, { short }]) => [
        `--${long}`,
        `-${short}`,
      ])
      const used = rest.match(/(?<!\S)--?[a-z][a-z-]*/g) ?? []
      expect({ text, known: command !== undefined }).toEqual({ text, known: true })
      expect({ text, unknown: used.filter((each) => !options.includes(each)) }).toEqual({
        text,
        unknown: [],
      })
    }
  })

  it('stand in blocks of a language that something checks', () => {
    const languages = writtenPages().flatMap((page) =>
      blocksOf(readPage(page)).map(({ language }) => language),
    )
    // Programs come from files, commands are run, and the rest is output and pictures.
    expect([...new Set(languages)].sort()).toEqual(['', 'js', 'sh', 'text'])
    const pictures = writtenPages().flatMap((page) => {
      const lines = readPage(page).split('\n')
      return blocksOf(readPage(page))
        .filter(({ language }) => language === '' || language === 'text')
        .flatMap(({ start, end }) => lines.slice(start + 1, end))
    })
    expect(
      pictures.filter((line) => /^(import|export|const|await|npm|npx|\$) /.test(line)),
    ).toEqual([])
  })
})

/** A script of package.json, or `npm test` and `npm start`, which are scripts too. */
function isScript(line: string): boolean {
  const [, name = ''] = /^npm (?:run )?([\w:]+)(?: -- .*)?$/.exec(line) ?? []
  return name in manifest.scripts
}

describe('npm run docs', () => {
  it('has nothing left to write', () => {
    const outdated = [...pagesAsTheyShouldBe()].filter(
      ([path, text]) => !existsSync(inRoot(path)) || readPage(path) !== text,
    )
    expect(outdated.map(([path]) => path)).toEqual([])
  })
})

describe('the error reference', () => {
  it('has a sentence and a shape for every code', () => {
    const entries = errorEntries()
    expect(entries.length).toBeGreaterThan(50)
    const poor = entries.filter(({ meaning, data }) => !/^[A-Z`].*\.$/.test(meaning) || data === '')
    expect(poor).toEqual([])
  })
})

describe('the API reference', () => {
  it('has every public name of every subpath, and no other', () => {
    const found = publicSubpaths().map(({ name, declarations }) => [
      name,
      declarations.map((declaration) => declaration.name).sort(),
    ])
    const listed = Object.entries(publicExports).map(([name, { values, types }]) => [
      name,
      [...values, ...types].sort(),
    ])
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed))
  })

  it('has a sentence for every name', () => {
    const silent = publicSubpaths().flatMap(({ name, declarations }) =>
      declarations.filter(({ comment }) => comment === '').map((one) => `${name} ${one.name}`),
    )
    expect(silent).toEqual([])
  })

  it('names no type that users could not import', () => {
    expect(unexportedTypes(publicSubpaths())).toEqual([])
  })

  it('shows what public declarations name, such as the options of a runner', () => {
    const page = readPage('docs/api/bobbin-adk.md')
    const shown = [...page.matchAll(/^(?:interface|type|class) (\w+)/gm)].map(([, name]) => name)
    for (const name of ['RepeatLimits', 'TrustPolicy', 'BudgetReport', 'Usage']) {
      expect(shown).toContain(name)
    }
    const options = /^interface RunnerOptions<.*> \{$.*?^\}$/ms.exec(page)?.[0] ?? ''
    for (const name of ['tools', 'store', 'limits', 'budget', 'policy', 'retries', 'testing']) {
      expect(options).toMatch(new RegExp(`^  readonly ${name}\\?:`, 'm'))
    }
  })
})

describe('the table of contents', () => {
  it('names every page and every example', () => {
    const contents = readPage('docs/index.md')
    const pages = writtenPages().filter((path) => path.startsWith('docs/'))
    const programs = readdirSync(inRoot('examples')).filter((file) => file.endsWith('.mjs'))
    const wanted = [
      ...pages.map((path) => path.slice('docs/'.length)).filter((path) => path !== 'index.md'),
      ...programs.map((file) => `../examples/${file}`),
    ]
    expect(wanted.filter((target) => !contents.includes(`](${target})`))).toEqual([])
  })
})

describe('the links in the documents', () => {
  it('lead to files that are there', () => {
    const broken = [...writtenPages(), ...generatedPages().keys()].flatMap((page) => {
      const prose = readPage(page).replaceAll(/^(`{3,}).*?^\1$/gms, '')
      const targets = Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target)
      return targets
        .filter((target) => !/^(?:[a-z]+:|#)/.test(target))
        .filter((target) => !existsSync(inRoot(join(dirname(page), target.replace(/#.*/, '')))))
        .map((target) => `${page}: ${target}`)
    })
    expect(broken).toEqual([])
  })
})
