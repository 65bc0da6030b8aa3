// A conversation of any length, made of the entries that a runner writes for one turn of ten calls.
import { createHash } from 'node:crypto'
import { memoryStore, Tool, TurnRunner } from '../../dist/index.js'

export const CALLS_A_TURN = 10
/** Every call has a result of its own, and all are of the same length. */
export const resultOf = (n) =>
  `2026-11-15T12:00:00Z checkout: connection ${String(n).padStart(8, '0')} was refused, retrying in 250 ms`
const ANSWER = {
  type: 'message',
  role: 'assistant',
  parts: [{ type: 'text', text: 'It ran dry.' }],
}
const wire = { provider: 'bench', api: 'bench', type: 'function_call', origin: 'natural' }

export const readLog = new Tool({
  name: 'read_log',
  description: 'Reads the log of a service.',
  inputSchema: {
    type: 'object',
    properties: { service: { type: 'string' }, lines: { type: 'integer' } },
    required: ['service', 'lines'],
  },
  handler: ({ lines }) => resultOf(lines),
})

/** A model that asks for `calls` calls, one after another, and then answers. */
export function scriptedModel(calls, onRequest = () => {}) {
  let step = 0
  return {
    api: 'bench',
    provider: 'bench',
    model: 'scripted',
    async *stream(request) {
      onRequest(request)
      const id = `call-${step}`
      const isOver = step === calls
      const item = isOver
        ? ANSWER
        : {
            type: 'call',
            id,
            tool: 'read_log',
            args: { service: 'checkout', lines: step },
            wire: { ...wire, callId: id },
            executedBy: 'runner',
          }
      step = isOver ? 0 : step + 1
      yield { type: 'finish', reason: isOver ? 'stop' : 'tools', items: [item], unfinished: [] }
    },
  }
}

/** The entries of one turn. Other turns are copies with other ids. */
async function oneTurn() {
  const store = memoryStore()
  const runner = new TurnRunner({ store, tools: [readLog], model: scriptedModel(CALLS_A_TURN) })
  const { status } = await runner.run({ conversation: 'c', message: 'Why did checkout fail?' })
  if (status !== 'completed') throw new Error(`The turn ended as \`${status}\`.`)
  const entries = []
  for await (const entry of store.entries('c')) entries.push(entry)
  return entries
}

/** What makes an entry unlike the same entry of another turn. */
function copyOf({ kind, turnId, data }, turn, length) {
  const text = JSON.stringify({ kind, turnId, data })
    .replaceAll(/call-(\d+)/g, `call-${turn}-$1`)
    .replaceAll(turnId, `${turnId}-${turn}`)
    // The ids of messages and model calls.
    .replaceAll(/"(id|response)":"(?!call-)([^"]+)"/g, `"$1":"$2-${turn}"`)
  const copy = JSON.parse(text)
  if (copy.data.upTo !== undefined) copy.data.upTo += turn * length
  return copy
}

/** Gives a settled call the result of its own, and gives the bytes of that. */
function withResult({ kind, data }, turn) {
  if (kind !== 'settlement') return []
  const bytes = Buffer.from(resultOf(turn * CALLS_A_TURN + data.args.lines))
  data.results.$artifact.sha256 = createHash('sha256').update(bytes).digest('hex')
  return [bytes]
}

/** The turns that a summary leaves in requests. */
const KEPT_TURNS = 2

/** What a summary of everything but the last turns says; it stands where the runner would have put it. */
function summaryOf(n, turn) {
  // Each call has one place in the history, and so have the message and the answer.
  const place = (n - KEPT_TURNS) * (CALLS_A_TURN + 2)
  const data = { id: `summary-${n}`, text: 'Checkout fails often.', place }
  return {
    kind: 'summary',
    turnId: `summary-${n}`,
    data: { ...data, upTo: (n - KEPT_TURNS) * turn.length, trust: 'third-party', calls: [] },
  }
}

/** Fills the conversation `c` of a store with `calls` calls, and puts a summary behind most of them if asked to. */
export async function fill(store, calls, { isCompacted = false } = {}) {
  const turn = await oneTurn()
  const { epoch } = await store.acquire('c', { owner: 'bench', leaseMs: 3_600_000 })
  for (let at = 0; at < calls / CALLS_A_TURN; at += 20) {
    const [batch, blobs] = [[], []]
    for (let n = at; n < Math.min(at + 20, calls / CALLS_A_TURN); n++) {
      const copies = turn.map((entry) => copyOf(entry, n, turn.length))
      blobs.push(...copies.flatMap((copy) => withResult(copy, n)))
      batch.push(...copies)
    }
    await store.append('c', epoch, batch, blobs)
  }
  if (isCompacted) await store.append('c', epoch, [summaryOf(calls / CALLS_A_TURN, turn)])
  await store.release('c', epoch)
}
