import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium, type Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ensureBrowser, findBrowser } from '../../scripts/ensure-browser.mjs'
import { ensureBuilt } from '../../scripts/ensure-built.mjs'
import { inRoot } from '../../scripts/project.mjs'
import { runCommand, runNode } from '../../scripts/run-command.mjs'

const texts = ['', 'a', 'grüß Gott 🧵', 'x'.repeat(100_000)]
const question = `({ digests: program.digestsOf(${JSON.stringify(texts)}), error: program.errorOf('t') })`
const program = inRoot('test/deep/browser/program.mjs')

// Quiet flags: a test browser phones nobody.
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

async function bundleForBrowser() {
  const built = await ensureBuilt()
  if (built.code !== 0) throw new Error(built.output)
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `import * as program from ${JSON.stringify(program)}\nglobalThis.program = program`,
      resolveDir: inRoot('test/deep/browser'),
    },
    absWorkingDir: inRoot(),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    // Users have no tsconfig that maps our imports to sources.
    tsconfigRaw: {},
    metafile: true,
    write: false,
  })
  return { script: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) }
}

/** Opens a loopback page that holds the script, in a real browser, and asks it. */
function inBrowser(script: string, expression: string): Promise<unknown> {
  const page = `<!doctype html><meta charset="utf-8"><script type="module">${script}</script>`
  const files = { '/': { type: 'text/html; charset=utf-8', body: page } }
  return onPage(files, (tab) => tab.evaluate(expression))
}

/** What a server on loopback gives, by path. */
type Files = Readonly<Record<string, { readonly type: string; readonly body: string | Buffer }>>

/** Serves some files on loopback and opens their first page in a real browser. */
async function onPage<T>(files: Files, ask: (tab: Page) => Promise<T>): Promise<T> {
  await ensureBrowser()
  const server = createServer(({ url = '/' }, response) => {
    const file = files[url]
    if (file === undefined) response.writeHead(404).end()
    else response.setHeader('content-type', file.type).end(file.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await chromium.launch({ executablePath: findBrowser() ?? '', args: flags })
  try {
    const tab = await browser.newPage()
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return await ask(tab)
  } finally {
    await browser.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Asks the same of the unbundled program, where the `node` condition selects `node:crypto`. */
async function onNode(expression: string): Promise<unknown> {
  const asking = `import * as program from ${JSON.stringify(program)}
    console.log(JSON.stringify(${expression}))`
  const { stdout } = await runCommand(process.execPath, ['--input-type=module', '--eval', asking])
  return JSON.parse(stdout)
}

describe('the core in a browser', () => {
  it('bundles without a module of Node, with the portable digests', async () => {
    const { script, inputs } = await bundleForBrowser()
    expect(inputs).toContain('dist/core/hash.portable.js')
    expect(inputs).not.toContain('dist/core/hash.node.js')
    expect(script).not.toMatch(/\bnode:|\brequire\(/)
  })

  it('gives the same digests and errors as on Node', async () => {
    const { script } = await bundleForBrowser()
    const answer = await inBrowser(script, question)
    expect(answer).toEqual(await onNode(question))
    expect(answer).toMatchObject({ error: { recognised: true } })
  })
})

describe('examples/browser-bundle.mjs', () => {
  it('runs its turn in a browser', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-page-'))
    try {
      const { code, output } = await runNode(inRoot('examples', 'browser-bundle.mjs'), [folder])
      expect({ code, output }).toMatchObject({ code: 0 })
      const files = Object.fromEntries(
        readdirSync(folder).map((name) => {
          const type = name.endsWith('.html') ? 'text/html; charset=utf-8' : 'text/javascript'
          const body = readFileSync(join(folder, name))
          return [name === 'index.html' ? '/' : `/${name}`, { type, body }]
        }),
      )
      const said = await onPage(files, async (tab) => {
        await tab.waitForFunction('document.body.textContent !== ""')
        return tab.textContent('body')
      })
      expect(said).toBe('completed 42')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
