// Indexing and searching a 1 GB log, side by side with wc, grep, ripgrep, readline and a table of lines.
// Needs a build (`npm run build`). Rounds are interleaved and the best of each is kept, because
// ratios within one run travel and times do not.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import Database from 'libsql'

const root = fileURLToPath(new URL('../', import.meta.url))
const { fileSpool, LineCounter, readLines, searchSpool } = await parts()

const GIGABYTE = Number(process.env.BENCH_BYTES ?? 1024 ** 3)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const RARE = 'needle-7f3a9'
const RARE_ANY_CASE = 'NEEDLE-7f3A9'
const EXPRESSION = 'user=9{4}[0-9] path=.*status=500'
const CLASSES = '[a-z]+-[0-9]{3}'

const folder = join(root, '.cache/bench')
await mkdir(folder, { recursive: true })
const log = join(folder, `log-${GIGABYTE}.txt`)
if (!existsSync(log)) await generate(log)

const start = process.memoryUsage().rss
let peak = start
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss)
}, 20)

const best = new Map()
async function measure(name, run) {
  const cpu = process.cpuUsage()
  const begun = performance.now()
  await run()
  const wall = performance.now() - begun
  const { user, system } = process.cpuUsage(cpu)
  keep(name, { wall, cpu: (user + system) / 1000 })
}
function keep(name, figures) {
  const known = best.get(name)
  if (known === undefined || figures.wall < known.wall) best.set(name, figures)
}
const hasRipgrep = spawnSync('rg', ['--version']).status === 0
function command(name, file, args, env = {}) {
  const begun = performance.now()
  const { stdout } = spawnSync(file, [...args, blob], { env: { ...process.env, ...env } })
  keep(name, { wall: performance.now() - begun })
  // ripgrep says nothing where grep says 0.
  return Number.parseInt(String(stdout) || '0', 10)
}

/** How many lines each contender found for one question: they must agree, or the race means nothing. */
const counts = new Map()
function count(question, contender, lines) {
  const known = counts.get(question) ?? new Map()
  counts.set(question, known.set(contender, lines))
}

const spools = join(folder, 'spool')
await rm(spools, { recursive: true, force: true })
let digest = ''
await measure('write, hash, index and sync', async () => {
  const source = createReadStream(log, { highWaterMark: 1024 * 1024 })
  digest = (await fileSpool(spools).write(source)).digest
})
const shard = join(spools, 'shared', digest.slice(0, 2))
const blob = join(shard, (await readdir(shard)).find((name) => name.endsWith('.blob')) ?? '')
let reader
await measure('open', async () => {
  reader = await fileSpool(spools).read(digest)
})

async function search(name, pattern, options = {}) {
  await measure(name, async () => {
    const limits = { budgetMs: 600_000, maxMatches: 1_000 }
    const { matches, stoppedBy } = await searchSpool(reader, { pattern, ...limits, ...options })
    count(name.replace('search ', ''), 'bobbin', stoppedBy === 'end' ? matches : Number.NaN)
  })
}
const showLine = (line) => readLines(reader, { from: line, count: 1 })
for (let round = 0; round < ROUNDS; round++) {
  count('all', 'wc', command('wc -l', 'wc', ['-l']))
  count('all', 'bobbin', reader.lineCount)
  await measure('index', async () => {
    const lines = new LineCounter()
    for await (const chunk of reader.stream({ borrow: true })) lines.add(chunk)
  })
  if (hasRipgrep) {
    count('literal', 'rg', command('rg literal', 'rg', ['-c', '-F', RARE]))
    const anyCase = ['-c', '-F', '-i', RARE_ANY_CASE]
    count('ignore case', 'rg', command('rg ignore case', 'rg', anyCase))
    count('expression', 'rg', command('rg expression', 'rg', ['-c', EXPRESSION]))
    count('classes', 'rg', command('rg classes', 'rg', ['-c', CLASSES]))
  }
  const fixed = ['-c', '-F', RARE]
  count('literal', 'grep', command('grep literal', 'grep', fixed, { LC_ALL: 'C' }))
  await search('search literal', RARE, { literal: true })
  await search('search ignore case', RARE_ANY_CASE, { literal: true, ignoreCase: true })
  await search('search expression', EXPRESSION)
  await search('search classes', CLASSES)
  await measure('head', () => readLines(reader, { from: 0, count: 10 }))
  await measure('tail', () => readLines(reader, { from: reader.lineCount - 10, count: 10 }))
  const line = Math.floor((reader.lineCount * (round + 0.5)) / ROUNDS)
  await measure('line(n)', () => showLine(line))
}
await measure('readline', async () => {
  let lines = 0
  for await (const line of createInterface({ input: createReadStream(blob) })) lines += line ? 1 : 0
})
clearInterval(watch)
await tableOfLines()

console.log(
  `${(statSync(blob).size / 1e9).toFixed(2)} GB, ${reader.lineCount} lines, best of ${ROUNDS}\n`,
)
for (const [name, { wall, cpu }] of best) {
  const spent = cpu === undefined ? '' : `${cpu.toFixed(1).padStart(9)} ms cpu`
  console.log(`${name.padEnd(30)}${wall.toFixed(1).padStart(9)} ms wall${spent}`)
}
console.log('')
const ratio = (ours, theirs) => best.get(ours).wall / (best.get(theirs)?.wall ?? Number.NaN)
target('index / wc -l', ratio('index', 'wc -l'), 3)
target('literal / ripgrep', ratio('search literal', 'rg literal'), 3.5)
target('expression / ripgrep', ratio('search expression', 'rg expression'), 4)
target('classes / ripgrep', ratio('search classes', 'rg classes'), 4)
target('head, ms', best.get('head').wall, 5)
target('tail, ms', best.get('tail').wall, 5)
target('line(n), ms', best.get('line(n)').wall, 5)
target('memory over start, MB', (peak - start) / 1e6, 150)
for (const [question, answers] of counts) {
  const agrees = new Set(answers.values()).size === 1
  const told = [...answers].map(([contender, lines]) => `${contender} ${lines}`).join(', ')
  console.log(`lines found, ${question}: ${told}  ${agrees ? 'ok' : 'MISSED'}`)
}
await rm(spools, { recursive: true, force: true })

function target(name, actual, limit) {
  const verdict = Number.isNaN(actual) ? 'not measured' : actual <= limit ? 'ok' : 'MISSED'
  console.log(`${name.padEnd(30)}${actual.toFixed(2).padStart(9)}  at most ${limit}  ${verdict}`)
}

/** The other way to have lines at hand: a row each. Measured once, building it takes long. */
async function tableOfLines() {
  const path = join(folder, 'lines.db')
  await rm(path, { force: true })
  const database = new Database(path)
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
  database.exec('CREATE TABLE line (number INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  const insert = database.prepare('INSERT INTO line VALUES (?, ?)')
  await measure('SQLite: build the table', async () => {
    let number = 0
    database.exec('BEGIN')
    for await (const line of createInterface({ input: createReadStream(blob) })) {
      insert.run(number++, line)
    }
    database.exec('COMMIT')
  })
  const find = database.prepare('SELECT count(*) AS lines FROM line WHERE instr(text, ?) > 0')
  const show = database.prepare('SELECT text FROM line WHERE number = ?')
  for (let round = 0; round < 3; round++) {
    await measure('SQLite: literal', () => count('literal', 'SQLite', find.get(RARE).lines))
    const number = Math.floor((reader.lineCount * (round + 0.5)) / 3)
    await measure('SQLite: line(n)', () => show.get(number))
  }
  database.close()
  console.log(`table of lines: ${(statSync(path).size / 1e9).toFixed(2)} GB`)
  await rm(path, { force: true })
}

/** The pieces under test, from source: the package does not offer all of them by name. */
async function parts() {
  const outfile = join(root, '.cache/bench/spool-parts.mjs')
  const contents = `
    export { fileSpool } from './src/stores/fs/index.ts'
    export { LineCounter } from './src/spool/line-index.ts'
    export { readLines } from './src/spool/read-lines.ts'
    export { searchSpool } from './src/spool/search/search.ts'
  `
  const stdin = { contents, resolveDir: root, loader: 'ts' }
  const hash = { '#hash': join(root, 'src/core/hash.node.ts') }
  const options = { bundle: true, format: 'esm', platform: 'node', packages: 'external' }
  await build({ stdin, outfile, alias: hash, logLevel: 'error', ...options })
  return import(outfile)
}

async function generate(path) {
  const levels = ['INFO', 'DEBUG', 'WARN', 'INFO', 'INFO', 'ERROR', 'INFO']
  const words = ['checkout', 'payment', 'cart', 'session', 'inventory', 'gateway', 'retry', 'stock']
  const out = createWriteStream(`${path}.part`)
  let seed = 42
  let lines = 0
  for (let bytes = 0; bytes < GIGABYTE; ) {
    let text = ''
    for (let i = 0; i < 5000; i++, lines++) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      const time = new Date(1_700_000_000_000 + lines * 7).toISOString()
      const word = words[seed % 8]
      text +=
        `${time} ${levels[lines % 7]} [${word}-${(seed >> 8) & 63}] request ${seed.toString(16)} ` +
        `took ${(seed >>> 4) % 5000}ms user=${(seed >>> 12) % 100_000} ` +
        `path=/api/v1/${words[(seed >>> 3) & 7]}/${seed % 9999} status=${seed % 97 === 0 ? 500 : 200}\n`
      if (lines % 3_500_000 === 3_499_999)
        text += `${time} FATAL [core] out of thread: ${RARE} in lane 42\n`
    }
    bytes += text.length
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  await rename(`${path}.part`, path)
  execFileSync('sync')
}
