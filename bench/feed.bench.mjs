// The feed: what followers add to a turn, many turns at once beside `ai`, and what goes through PostgreSQL. Compare
// ratios, not times: the contenders take turns, so that noise hits all of them alike.
import OpenAI from 'openai'
import { TurnRunner } from '../dist/index.js'
import { openaiChat } from '../dist/providers/openai/index.js'
import { startChild } from './feed/child.mjs'
import { postgresStatements } from './feed/postgres.mjs'
import { median, printTable, target } from './measure.mjs'

const DELTAS = 4_000
const FOLLOWERS = [0, 1, 10, 100]
const FOLLOWER_ROUNDS = 7
const FOLLOWER_WARM_UPS = 2
/** One turn takes some twenty milliseconds: too few to be told from a collection. */
const TURNS_A_SAMPLE = 5
/** A turn whose deltas come 2 ms apart: each is a read of its own, as from a provider. */
const PACED = { deltas: 1_000, turns: 1, url: '2/1000' }

/** One turn, and all of its followers read to its end. Gives CPU microseconds. */
async function followedTurn(runner, { conversation, followers, deltas }) {
  const before = process.cpuUsage()
  // Until then, the conversation may not exist.
  const begun = new Promise((resolve) => {
    const off = runner.observe('dispatchStart', () => {
      off()
      resolve()
    })
  })
  const turn = runner.run({ conversation, message: 'go' })
  const readers = Array.from({ length: followers }, async () => {
    let found = 0
    await begun
    for await (const event of runner.follow({ conversation, live: true })) {
      if ('delta' in event) found++
      if (event.type === 'turnEnd') break
    }
    return found
  })
  const [{ status }, ...found] = await Promise.all([turn, ...readers])
  const { user, system } = process.cpuUsage(before)
  if (status !== 'completed') throw new Error(`The turn ended as \`${status}\`.`)
  const least = Math.min(deltas, ...found)
  if (least < deltas) throw new Error(`A follower got ${least} of ${deltas} deltas.`)
  return user + system
}

async function measureFollowers() {
  const rounds = FOLLOWER_ROUNDS + FOLLOWER_WARM_UPS
  const turns = rounds * FOLLOWERS.length * TURNS_A_SAMPLE
  const server = await startChild('loopback.mjs', DELTAS, turns)
  const chat = await startChild('chat-server.mjs')
  const fast = { deltas: DELTAS, turns: TURNS_A_SAMPLE }
  const shapes = {
    each: { ...fast, url: server.hello.each },
    joined: { ...fast, url: server.hello.joined },
    paced: { ...PACED, url: `${chat.hello}/${PACED.url}` },
  }
  const table = [['µs of CPU per delta', ...FOLLOWERS.map((n) => `${n} followers`), 'ratios']]
  let named = 0
  const added = {}
  for (const [how, { url: baseURL, turns: count, deltas }] of Object.entries(shapes)) {
    const client = new OpenAI({ apiKey: 'x', baseURL, maxRetries: 0 })
    const samples = FOLLOWERS.map(() => [])
    for (let round = -FOLLOWER_WARM_UPS; round < FOLLOWER_ROUNDS; round++) {
      // A runner a round: the memory store keeps what it was given.
      const runner = new TurnRunner({ model: openaiChat({ client, model: 'm' }) })
      for (let i = 0; i < FOLLOWERS.length; i++) {
        const which = (i + round + FOLLOWERS.length) % FOLLOWERS.length
        let spent = 0
        for (let turn = 0; turn < count; turn++) {
          const conversation = `conversation ${named++}`
          spent += await followedTurn(runner, { conversation, followers: FOLLOWERS[which], deltas })
        }
        if (round >= 0) samples[which].push(spent / (deltas * count))
      }
    }
    const ratios = samples.map((times) => median(times.map((time, i) => time / samples[0][i])))
    const times = samples.map((each) => median(each).toFixed(1))
    table.push([how, ...times, ratios.map((ratio) => ratio.toFixed(2)).join(', ')])
    added[how] = (ratios[1] - 1) * 100
  }
  server.stop()
  chat.stop()
  console.log(
    `\nA turn of ${DELTAS} deltas from a loopback provider, one write per event or joined\n`,
  )
  printTable(table)
  const detail = `${added.each.toFixed(0)} %`
  target('one follower adds at most 20 % to the CPU of a turn', added.each <= 20, detail)
  console.log(`info  with 16 KB to a write, it adds ${added.joined.toFixed(0)} %`)
  console.log(`info  with 2 ms between two deltas, it adds ${added.paced.toFixed(0)} %`)
}

const TURNS = 200
/** Of each of the two answers of a turn. */
const HALF = 250
const RACE_ROUNDS = 3
/** Between two deltas of a turn while latency is measured. */
const PACE_MS = 40

async function measureTurnsAtOnce() {
  const server = await startChild('chat-server.mjs')
  const names = ['limit', 'bobbin', 'ai']
  const kits = {}
  for (const name of names) kits[name] = await startChild('subject.mjs', name)
  const deltas = HALF * 2
  const cost = (name, turns) =>
    kits[name].ask('cost', { url: `${server.hello}/0/${HALF}`, turns, deltas })
  // With all turns at once from a cold start, `ai` stays half as fast for the rest of its process.
  for (const name of names) await cost(name, TURNS / 4)
  const samples = { limit: [], bobbin: [], ai: [] }
  for (let round = 0; round < RACE_ROUNDS; round++) {
    for (const name of names)
      samples[name].push((TURNS * deltas) / ((await cost(name, TURNS)) / 1e6))
  }
  const url = `${server.hello}/${PACE_MS}/${HALF}`
  const latency = {}
  for (const name of names)
    latency[name] = await kits[name].ask('latency', { url, turns: TURNS, deltas })
  for (const { stop } of [server, ...Object.values(kits)]) stop()
  const times = (found) => found?.map((time) => (time / 1000).toFixed(1)).join(', ') ?? ''
  console.log(
    `\n${TURNS} turns at once: ${deltas} deltas and two calls each, read as UI message streams\n`,
  )
  printTable([
    ['', 'deltas per CPU second', 'ms to a listener: p50, p99', 'ms to the page: p50, p99'],
    ...names.map((name) => [
      name,
      median(samples[name]).toFixed(0),
      times(latency[name].listener),
      times(latency[name].page),
    ]),
  ])
  console.log(`info  latencies: a delta every ${PACE_MS} ms in each turn, from the server's write`)
  const ratio = median(samples.bobbin.map((rate, round) => rate / samples.ai[round]))
  target('at least five times as many events per CPU second as ai', ratio >= 5, ratio.toFixed(1))
}

async function measurePostgres() {
  const server = await startChild('chat-server.mjs')
  try {
    const { alone, followed } = await postgresStatements(server.hello)
    console.log('\nPostgreSQL: statements a second per turn that streams a delta every 20 ms\n')
    const cells = ({ turn, follower, deltas }) =>
      [turn, follower, deltas].map((rate) => rate.toFixed(1))
    printTable([
      ['', 'by the turn', 'by the follower', 'of these, for deltas'],
      ['without followers', ...cells(alone)],
      ['a follower in another store', ...cells(followed)],
    ])
    target('no statement for deltas without a follower', alone.deltas === 0, `${alone.deltas}`)
    const sum = followed.turn + followed.follower
    target('at most 25 statements a second with one', sum <= 25, sum.toFixed(1))
  } finally {
    server.stop()
  }
}

// All of it, or the parts named: `node feed.bench.mjs postgres`.
const parts = { followers: measureFollowers, turns: measureTurnsAtOnce, postgres: measurePostgres }
const wanted = process.argv.slice(2)
for (const [name, measure] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await measure()
}
