import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ensureBrowser, findBrowser } from '../../scripts/ensure-browser.mjs'
import { ensureBuilt } from '../../scripts/ensure-built.mjs'
import { inRoot } from '../../scripts/project.mjs'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { Store } from '../../src/store/store.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { embeddedServer } from '../postgres/embedded-server.ts'

let browser: Browser
let folder: string
const started: ChildProcess[] = []

beforeAll(async () => {
  await ensureBrowser()
  const { code, output } = await ensureBuilt()
  if (code !== 0) throw new Error(output)
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
  ]
  browser = await chromium.launch({ executablePath: findBrowser() ?? '', args })
  folder = mkdtempSync(join(tmpdir(), 'bobbin-chat-'))
})
afterEach(async () => {
  for (const server of started.splice(0)) {
    server.kill()
    if (server.exitCode === null) await once(server, 'exit')
  }
})
afterAll(async () => {
  await browser.close()
  rmSync(folder, { recursive: true })
})

/** Starts the example and gives the addresses that it prints. */
async function startChat(env: Record<string, string>, count = 1): Promise<string[]> {
  const quiet = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' }
  const server = spawn(process.execPath, [inRoot('examples/chat/main.mjs')], {
    env: { ...process.env, ...quiet, PORT: '0', CHAT_WORD_MS: '20', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(server)
  let output = ''
  for (const stream of [server.stdout, server.stderr]) {
    stream.on('data', (text: Buffer) => void (output += text.toString()))
  }
  for (let tries = 0; tries < 300; tries++) {
    const urls = output.match(/http:\S+/g) ?? []
    if (urls.length === count) return urls
    if (server.exitCode !== null) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`The example did not start: ${output}`)
}

/** A page whose errors fail the test. */
async function openPage(url: string): Promise<{ page: Page; errors: string[] }> {
  const page = await (await browser.newContext()).newPage()
  const errors: string[] = []
  page.on('pageerror', ({ message }) => void errors.push(message))
  await page.goto(url)
  return { page, errors }
}

const see = (page: Page, text: string | RegExp) =>
  page.getByText(text).first().waitFor({ timeout: 30_000 })

async function say(page: Page, text: string): Promise<void> {
  await page.locator('form button[type=submit]').waitFor()
  await page.fill('textarea', text)
  await page.keyboard.press('Enter')
}

/** The calls on the page: the tool and the word about its state. */
const calls = (page: Page) =>
  page.$$eval('.call', (found) =>
    found.map(
      (call) =>
        `${call.querySelector('b')?.textContent} ${call.querySelector('.state')?.textContent}`,
    ),
  )

/** The arguments and settlements of the refunds in a store. */
async function refunds(store: Store): Promise<unknown[]> {
  const { entries } = await store.find({ kind: 'settlement', tool: 'refund' })
  return entries.map(({ entry }) => {
    const { args, settlement } = entry.data as { args?: { euros?: number }; settlement?: string }
    return [args?.euros, settlement]
  })
}

describe('examples/chat', () => {
  it('runs whole conversations with `useChat` in a browser', async () => {
    const path = join(folder, 'chat.db')
    const [url = ''] = await startChat({ CHAT_DB: path })
    const { page, errors } = await openPage(url)
    // Reasoning, text, parallel calls, progress.
    await page.getByText('Please refund my broken lamp.').click()
    await page.locator('.progress').waitFor()
    expect(await page.locator('.reasoning').count()).toBe(1)
    expect(await page.locator('.call').count()).toBe(2)
    // Reload in the middle of the turn: the page goes on where it was.
    await page.reload()
    await page.locator('.progress').waitFor()
    await page.locator('dialog[open]').waitFor({ timeout: 30_000 })
    const asked = ['find_orders done', 'check_stock done', 'refund waits for approval']
    expect(await calls(page)).toEqual(asked)
    // Reload while the turn waits; then approve with other arguments.
    await page.reload()
    await page.locator('dialog[open]').waitFor()
    expect(await calls(page)).toEqual(asked)
    await page.fill('dialog input[name=euros]', '-1')
    await page.click('.approve')
    await see(page, /do not fit the tool/)
    await page.fill('dialog input[name=euros]', '20')
    await page.click('.approve')
    await see(page, 'delivered on Monday.')
    const edited = [...asked.slice(0, 2), 'refund changed by you', 'refund done']
    expect(await calls(page)).toEqual(edited)
    // The page is the same when it is loaded again.
    const before = await page.locator('.messages').innerText()
    await page.reload()
    await see(page, 'delivered on Monday.')
    expect(await page.locator('.messages').innerText()).toBe(before)

    // Another conversation: approval as it is, then a denial.
    await page.click('.new')
    await say(page, 'I want a refund.')
    await page.locator('dialog[open]').waitFor({ timeout: 30_000 })
    await page.click('.approve')
    await see(page, 'delivered on Monday.')
    expect((await calls(page)).at(-1)).toBe('refund done')
    await say(page, 'One more refund.')
    await page.locator('dialog[open]').waitFor({ timeout: 30_000 })
    await page.fill('dialog input[name=reason]', 'Too much.')
    await page.click('.deny')
    await see(page, 'declined')
    await page.getByText('delivered on Monday.').nth(1).waitFor()

    // A tool that fails, and a turn that is stopped.
    await page.click('.new')
    await say(page, 'Do you have a moon lamp?')
    await see(page, /no item with this name/)
    await see(page, 'There is no moon lamp in the shop.')
    await say(page, 'Read all orders.')
    await page.locator('.progress').waitFor()
    await page.click('.stop')
    await see(page, 'Stopped.')
    expect((await calls(page)).at(-1)).toBe('find_orders failed')

    // The sidebar leads back.
    expect(await page.locator('nav li').count()).toBe(3)
    await page.getByRole('button', { name: 'Please refund my broken lamp.' }).click()
    await see(page, 'changed by you')
    expect(await calls(page)).toEqual(edited)
    expect(errors).toEqual([])
    const store = sqliteStore(path)
    expect(await refunds(store)).toEqual([
      [35, 'edited'],
      [20, 'ok'],
      [35, 'ok'],
      [35, 'denied'],
    ])
    await store.close()
  })

  it('asks what a tool asks: a form for its schema, then a link with its host', async () => {
    const path = join(folder, 'questions.db')
    const [url = ''] = await startChat({ CHAT_DB: path })
    const { page, errors } = await openPage(url)
    await say(page, 'Please collect the lamp.')
    await page.locator('dialog select[name=day]').selectOption('Tuesday')
    await page.fill('dialog input[name=hour]', '3')
    await page.click('.approve')
    await see(page, /does not fit the schema/)
    await page.fill('dialog input[name=hour]', '9')
    await page.click('.approve')
    await page.locator('dialog .link').waitFor({ timeout: 30_000 })
    // The question is still there when the page is loaded again.
    await page.reload()
    const link = page.locator('dialog .link')
    await link.waitFor()
    expect(await link.innerText()).toBe('https://carrier.example/sign-in opens carrier.example')
    await page.click('.approve')
    await see(page, 'The parcel will be collected.')
    expect(await calls(page)).toEqual(['book_pickup done'])
    expect(errors).toEqual([])
    const store = sqliteStore(path)
    const { entries } = await store.find({ kind: 'settlement', tool: 'book_pickup' })
    expect(entries.map(({ entry }) => (entry.data as JsonObject)['settlement'])).toEqual(['ok'])
    await store.close()
  })

  it('shows an error of the model', async () => {
    const [url = ''] = await startChat({
      CHAT_DB: join(folder, 'error.db'),
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    })
    const { page, errors } = await openPage(url)
    await say(page, 'Hello.')
    await see(page, /The turn failed \(\w+\)\./)
    expect(errors).toEqual([])
  })

  it('is followed and stopped from a second process on PostgreSQL', async () => {
    const database = await embeddedServer()
    try {
      const urls = await startChat({ DATABASE_URL: database.url }, 2)
      const [first, second] = [await openPage(urls[0] ?? ''), await openPage(urls[1] ?? '')]
      await say(first.page, 'Read all orders of Ann.')
      await first.page.locator('.progress').waitFor()
      const { hash } = new URL(first.page.url())
      await second.page.goto(`${urls[1]}${hash}`)
      await second.page.reload()
      await second.page.locator('.progress').waitFor({ timeout: 30_000 })
      await second.page.click('.stop')
      await see(second.page, 'Stopped.')
      await see(first.page, 'Stopped.')
      await say(second.page, 'Please refund my lamp.')
      await second.page.locator('dialog[open]').waitFor({ timeout: 30_000 })
      // The approval is given to the other process.
      await first.page.reload()
      await first.page.locator('dialog[open]').waitFor()
      await first.page.click('.approve')
      await see(first.page, 'delivered on Monday.')
      expect([...first.errors, ...second.errors]).toEqual([])
    } finally {
      for (const server of started.splice(0)) {
        server.kill()
        if (server.exitCode === null) await once(server, 'exit')
      }
      await database.remove()
    }
  })
})
