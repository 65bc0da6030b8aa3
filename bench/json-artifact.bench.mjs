// Why JSON on a spool is read by a scanner of our own: counting what is in 100 MB, side by side with the maintained
// streaming parsers. Each runs once on each document, in a process of its own, on chunks of 64 KB with a turn of
// the event loop between them. An answer to a model may take 5 seconds and 100 MB. BENCH_BYTES makes it smaller.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { printTable, target } from './measure.mjs'

const BYTES = Number(process.env.BENCH_BYTES ?? 100_000_000)
const SUBJECTS = ['bobbin', '@streamparser/json', 'stream-json', 'jsonriver', 'JSON.parse']
const DOCUMENTS = { array: 'objects', numbers: 'numbers', string: 'one string' }
const worker = fileURLToPath(new URL('./json/subject.mjs', import.meta.url))

function run(subject, document) {
  const args = [worker, subject, document, String(BYTES)]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
  return stdout === '' ? undefined : JSON.parse(stdout)
}

const shown = ({ ms, megabytes }) => `${(ms / 1_000).toFixed(2)} s, ${megabytes.toFixed(0)} MB`
const rows = [['', ...Object.values(DOCUMENTS)]]
const counts = new Map(Object.keys(DOCUMENTS).map((document) => [document, new Set()]))
const ours = {}
for (const subject of SUBJECTS) {
  const cells = Object.keys(DOCUMENTS).map((document) => {
    const figures = run(subject, document)
    if (figures === undefined) return 'fails'
    counts.get(document).add(figures.items)
    if (subject === 'bobbin') ours[document] = figures
    return shown(figures)
  })
  rows.push([subject, ...cells])
}
printTable(rows)
console.log('')
for (const [document, name] of Object.entries(DOCUMENTS)) {
  const { ms, megabytes } = ours[document]
  target(`${name}, s of CPU`, ms < 5_000, `${(ms / 1_000).toFixed(2)}, at most 5`)
  target(`${name}, memory`, megabytes < 100, `${megabytes.toFixed(0)} MB, at most 100`)
  target(
    `${name}, one count`,
    counts.get(document).size === 1,
    [...counts.get(document)].join(', '),
  )
}
