// Turns in PostgreSQL, with clients that count their statements.
import OpenAI from 'openai'
import postgres from 'postgres'
import { TurnRunner } from '../../dist/index.js'
import { openaiChat } from '../../dist/providers/openai/index.js'
import { followConversation } from '../../dist/store/index.js'
import { postgresStore } from '../../dist/stores/postgres/index.js'
import { startServer } from '../postgres-server.mjs'

const TURNS = 4
const DELTAS = 500
const LIMIT_MS = 120_000

function countingStore(url, schema) {
  const counted = { all: 0, deltas: 0 }
  const client = postgres(url, {
    max: 10,
    fetch_types: false,
    onnotice: () => undefined,
    debug(_, text) {
      counted.all++
      // The tables are made on first use.
      if (text.includes('bobbin_deltas') && !text.includes('CREATE')) counted.deltas++
    },
  })
  const store = postgresStore({ client, schema })
  const close = async () => {
    await store.close()
    await client.end({ timeout: 5 })
  }
  return { store, counted, close }
}

/** Statements a second and turn, from the first delta of all turns to the last. */
async function rates(baseURL, url, schema, isFollowed) {
  const [own, other] = [countingStore(url, schema), countingStore(url, schema)]
  const client = new OpenAI({ apiKey: 'x', baseURL, maxRetries: 0 })
  const runner = new TurnRunner({ model: openaiChat({ client, model: 'm' }), store: own.store })
  const snapshot = () => ({
    time: performance.now(),
    turn: own.counted.all,
    follower: other.counted.all,
    deltas: own.counted.deltas + other.counted.deltas,
  })
  let [first, last, told] = [undefined, undefined, 0]
  runner.on('message', () => {
    told++
    // Everybody has begun, and the readers are known.
    if (told === TURNS * 50) first = snapshot()
    if (told === TURNS * (DELTAS - 10)) last = snapshot()
  })
  const signal = AbortSignal.timeout(LIMIT_MS)
  const conversations = Array.from({ length: TURNS }, (_, i) => `conversation ${i}`)
  const reading = conversations.map(async (conversation) => {
    if (!isFollowed) return
    let found = 0
    for await (const event of followConversation(other.store, {
      conversation,
      live: true,
      signal,
    })) {
      if ('delta' in event) found++
      if (event.type === 'turnEnd') break
    }
    if (found < DELTAS / 2) throw new Error(`A follower got ${found} of ${DELTAS} deltas.`)
  })
  const turns = conversations.map(async (conversation) => {
    const { status } = await runner.run({ conversation, message: 'go', signal })
    if (status !== 'completed') throw new Error(`The turn ended as \`${status}\`.`)
  })
  try {
    await Promise.all([...reading, ...turns])
  } finally {
    await own.close()
    await other.close()
  }
  const share = ((last.time - first.time) / 1000) * TURNS
  const rate = (name) => (last[name] - first[name]) / share
  // Not one may be hidden by the window.
  const deltas = isFollowed ? rate('deltas') : own.counted.deltas
  return { turn: rate('turn'), follower: rate('follower'), deltas }
}

export async function postgresStatements(chat) {
  const server = await startServer()
  try {
    const baseURL = `${chat}/20/${DELTAS}`
    const alone = await rates(baseURL, server.url, 'alone', false)
    const followed = await rates(baseURL, server.url, 'followed', true)
    return { alone, followed }
  } finally {
    await server.remove()
  }
}
