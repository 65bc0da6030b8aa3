// One kit in a process of its own: many turns at once, each read to its end as the UI message stream that a page gets.
import { microseconds } from './clock.mjs'

const { respond } = await import(`./${process.argv[2]}.mjs`)

/** CPU microseconds of `turns` turns at once. */
async function cost({ url, turns, deltas }) {
  const start = respond(url)
  const before = process.cpuUsage()
  await all(turns, async (name) => {
    let found = 0
    for await (const bytes of start(name).body) found += countOf(bytes)
    check(found, deltas)
  })
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** The 50th and 99th percentile in microseconds from the server's write to a listener and to the bytes for the page. */
async function latency({ url, turns, deltas }) {
  const [listener, page] = [[], []]
  const since = (text) => microseconds() - Number(text)
  const start = respond(url, (delta) => listener.push(since(delta)))
  await all(turns, async (name) => {
    let found = 0
    const decoder = new TextDecoder()
    for await (const bytes of start(name).body) {
      for (const [, time] of decoder.decode(bytes, { stream: true }).matchAll(STAMP)) {
        page.push(since(time))
        found++
      }
    }
    check(found, deltas)
  })
  return { listener: percentiles(listener), page: percentiles(page) }
}

const STAMP = /"delta":" (\d+)"/g
const MARK = Buffer.from('"text-delta"')

function countOf(bytes) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let found = 0
  for (let at = buffer.indexOf(MARK); at !== -1; at = buffer.indexOf(MARK, at + MARK.length)) {
    found++
  }
  return found
}

function check(found, deltas) {
  if (found !== deltas) throw new Error(`${found} of ${deltas} deltas came`)
}

let asked = 0
const all = (turns, act) =>
  Promise.all(Array.from({ length: turns }, () => act(`conversation ${asked++}`)))

function percentiles(values) {
  if (values.length === 0) return undefined
  const sorted = Float64Array.from(values).sort()
  return [0.5, 0.99].map((part) => sorted[Math.floor(part * sorted.length)])
}

const tasks = { cost, latency }
process.on('message', ({ task, ...options }) => {
  tasks[task](options).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send('ready')
