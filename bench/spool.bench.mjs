// Indexing and searching a 1 GB log, side by side with wc, grep, ripgrep, readline and a table of lines.
// Rounds are interleaved and the best of each is kept, because ratios within one run travel and times do
// not; slow subjects run once. BENCH_BYTES and BENCH_ROUNDS make it smaller.
import { spawnSync } from 'node:child_process'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { internals } from './internals.mjs'
import { generate, RARE } from './log/generate.mjs'
import { buildLineTable, eachLine } from './log/line-table.mjs'
import { target } from './measure.mjs'

// From source: the package does not offer all of them by name.
const { fileSpool, LineCounter, readLines, searchSpool } = await internals(`
  export { fileSpool } from '../src/stores/fs/index.ts'
  export { LineCounter } from '../src/spool/line-index.ts'
  export { readLines } from '../src/spool/read-lines.ts'
  export { searchSpool } from '../src/spool/search/search.ts'
`)

const BYTES = Number(process.env.BENCH_BYTES ?? 1024 ** 3)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
/** Each question as ripgrep and grep take it, as we do, and how much slower than ripgrep we may be. */
const QUESTIONS = {
  literal: { args: ['-F', RARE], pattern: RARE, literal: true, limit: 3.5 },
  'ignore case': {
    args: ['-F', '-i', RARE.toUpperCase()],
    pattern: RARE.toUpperCase(),
    literal: true,
    ignoreCase: true,
  },
  expression: { pattern: 'user=9{4}[0-9] path=.*status=500', limit: 4 },
  classes: { pattern: '[a-z]+-[0-9]{3}', limit: 4 },
}

const folder = fileURLToPath(new URL('../.cache/bench/', import.meta.url))
await mkdir(folder, { recursive: true })
const log = join(folder, `log-${BYTES}.txt`)
if (!existsSync(log)) await generate(log, BYTES)

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

/** Every match is counted, as the commands do; how many an answer shows is another matter. */
async function countMatches({ pattern, literal = false, ignoreCase = false }) {
  let total = 0
  let cursor
  do {
    const answer = await searchSpool(reader, {
      ...{ pattern, literal, ignoreCase, budgetMs: 600_000, maxMatches: 1_000 },
      ...(cursor !== undefined && { cursor }),
    })
    total += answer.matches
    cursor = answer.cursor
  } while (cursor !== undefined)
  return total
}

const hasRipgrep = spawnSync('rg', ['--version']).status === 0
for (let round = 0; round < ROUNDS; round++) {
  count('all', 'wc', command('wc -l', 'wc', ['-l']))
  await measure('index', async () => {
    const lines = new LineCounter()
    for await (const chunk of reader.stream({ borrow: true })) lines.add(chunk)
    count('all', 'bobbin', lines.lines().newlines)
  })
  for (const [question, asked] of Object.entries(QUESTIONS)) {
    const args = ['-c', ...(asked.args ?? [asked.pattern])]
    if (hasRipgrep) count(question, 'rg', command(`${question}: rg`, 'rg', args))
    await measure(`${question}: bobbin`, async () => {
      count(question, 'bobbin', await countMatches(asked))
    })
    if (round > 0) continue
    // What grep does with other than the C locale would be no race.
    const extended = asked.literal ? args : ['-E', ...args]
    count(question, 'grep', command(`${question}: grep`, 'grep', extended, { LC_ALL: 'C' }))
  }
  await measure('head', () => readLines(reader, { from: 0, count: 10 }))
  await measure('tail', () => readLines(reader, { from: reader.lineCount - 10, count: 10 }))
  const line = Math.floor((reader.lineCount * (round + 0.5)) / ROUNDS)
  await measure('line(n)', () => readLines(reader, { from: line, count: 1 }))
}

clearInterval(watch)
await measure('literal: readline', async () => {
  let [lines, found] = [0, 0]
  await eachLine(blob, (line) => {
    lines++
    if (line.includes(RARE)) found++
  })
  count('all', 'readline', lines)
  count('literal', 'readline', found)
})

const path = join(folder, 'lines.db')
let table
await measure('SQLite: build the table', async () => {
  table = await buildLineTable(path, blob)
})
count('all', 'SQLite', table.rows)
const middle = Math.floor(reader.lineCount / 2)
let theirs
for (let round = 0; round < 2; round++) {
  await measure('literal: SQLite', () => count('literal', 'SQLite', table.count(RARE)))
  await measure('line(n): SQLite', () => {
    theirs = table.line(middle)
  })
}
const ours = (await readLines(reader, { from: middle, count: 1 })).lines[0]?.text
table.close()

const size = (bytes) => `${(bytes / 1e9).toFixed(2)} GB`
console.log(
  `${size(statSync(blob).size)}, ${reader.lineCount} lines, best of ${ROUNDS} rounds; ` +
    `as a table ${size(statSync(path).size)}\n`,
)
for (const [name, { wall, cpu }] of best) {
  const spent = cpu === undefined ? '' : `${cpu.toFixed(1).padStart(9)} ms cpu`
  console.log(`${name.padEnd(30)}${wall.toFixed(1).padStart(9)} ms wall${spent}`)
}
console.log('')
const atMost = (name, actual, limit) =>
  target(name, actual <= limit, `${actual.toFixed(2)}, at most ${limit}`)
const ratio = (name, other) => best.get(name).wall / best.get(other).wall
atMost('index, times wc -l', ratio('index', 'wc -l'), 3)
for (const [question, { limit }] of Object.entries(QUESTIONS)) {
  if (limit === undefined) continue
  if (!hasRipgrep) console.log(`not measured: ${question}, because ripgrep is not installed`)
  else atMost(`${question}, times ripgrep`, ratio(`${question}: bobbin`, `${question}: rg`), limit)
}
for (const name of ['head', 'tail', 'line(n)']) atMost(`${name}, ms`, best.get(name).wall, 5)
atMost('memory over start, MB', (peak - start) / 1e6, 150)
for (const [question, answers] of counts) {
  const told = [...answers].map(([contender, lines]) => `${contender} ${lines}`).join(', ')
  target(`lines found, ${question}`, new Set(answers.values()).size === 1, told)
}
target('the middle line is the same', ours === theirs, `line ${middle}`)
await rm(path, { force: true })
await rm(spools, { recursive: true, force: true })
