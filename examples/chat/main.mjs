// A chat with a server and a page: `npm run chat` in a clone. It needs no key and no network. Conversations are in
// chat.db; with DATABASE_URL they are in PostgreSQL, and two servers share them.
import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import { build } from 'esbuild'
import { chatModel, chatTools, instructions } from './agent.mjs'
import { chatApp } from './app.mjs'

const { PORT = '4680', CHAT_DB = 'chat.db', CHAT_WORD_MS = '30', DATABASE_URL } = process.env
const wordMs = Number(CHAT_WORD_MS)
const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))

async function openStore() {
  if (DATABASE_URL) {
    const { postgresStore } = await import('bobbin-adk/postgres')
    return postgresStore({ url: DATABASE_URL })
  }
  const { sqliteStore } = await import('bobbin-adk/sqlite')
  return sqliteStore(CHAT_DB)
}

const { outputFiles } = await build({
  entryPoints: [here('page/main.tsx')],
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  tsconfigRaw: {},
})
const script = outputFiles[0]?.text ?? ''
const html = readFileSync(here('page/index.html'), 'utf8')
const style = readFileSync(here('page/style.css'), 'utf8')

const store = await openStore()
const model = await chatModel({ wordMs })
const app = chatApp({ store, model, tools: chatTools({ stepMs: wordMs * 10 }), instructions })
app.get('/', (c) => c.html(html))
app.get('/page.js', (c) =>
  c.body(script, 200, { 'content-type': 'text/javascript; charset=utf-8' }),
)
app.get('/style.css', (c) => c.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }))

const server = serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) },
  ({ port }) => {
    console.log(`The chat is at http://127.0.0.1:${port}/ (model: ${model.model})`)
    // A second server on the same database: a page may be loaded from either, in the middle of a turn too.
    if (DATABASE_URL && process.send === undefined) {
      const next = port === 0 ? '0' : String(port + 1)
      const second = fork(fileURLToPath(import.meta.url), [], {
        env: { ...process.env, PORT: next },
      })
      process.on('exit', () => second.kill())
    }
  },
)

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, () => {
    server.close()
    void store.close().then(() => process.exit(0))
  })
}
