// An artifact class of your own: declare a query as data, and a model can ask it.
import assert from 'node:assert/strict'
import { memorySpool, SpooledArtifact } from 'bobbin-adk'

class AccessLog extends SpooledArtifact {
  /** @override */ static kind = 'access-log'
  /** @override */ static queries = [
    SpooledArtifact.query({
      name: 'log_status',
      description: 'Counts the requests by HTTP status.',
      parameters: {
        from: { type: 'integer', description: 'Lowest one', minimum: 0, maximum: 599, default: 0 },
      },
      async run(/** @type {AccessLog} */ log, { from }, { signal }) {
        const counts = new Map()
        for await (const line of log.lines({ signal })) {
          const status = Number(line.split(' ')[2])
          if (status >= from) counts.set(status, (counts.get(status) ?? 0) + 1)
        }
        return [...counts].map(([status, count]) => `${status}: ${count}`).join('\n')
      },
    }),
  ]
}

// A tool names the class with `artifactConstructor: () => AccessLog`; here we wrap a log by hand.
const log = 'GET / 200\nGET /cart 200\nPOST /pay 503\nGET /old 404\nPOST /pay 503\n'
const artifact = new AccessLog(await memorySpool().write(log))

// For each request to a model, tools are forged around the artifacts that it can see.
const tools = SpooledArtifact.forgeTools({ turnToolCalls: [{ id: 'call_1', results: artifact }] })
console.log(tools.names.join('\n'))

// The model asks and gets text, within bounds. A number out of range is clamped; an unknown call is refused.
const ask = tools.get('artifact_log_status')?.executor()
assert.equal(await ask?.({ callId: 'call_1', from: 400 }), '503: 2\n404: 1')
assert.equal(await ask?.({ callId: 'call_1', from: -5 }), '200: 2\n503: 2\n404: 1')
await assert.rejects(
  async () => ask?.({ callId: 'call_9' }),
  /this tool has no result of a call `call_9`. Use one of these as `callId`: call_1/,
)

// What every artifact answers works too, from a program as well.
assert.deepEqual(await artifact.tail(1), ['POST /pay 503'])
const { lines } = await artifact.grep('^POST .* 5\\d\\d$')
assert.deepEqual(
  lines.map(({ line }) => line),
  [2, 4],
)
console.log('own-artifact: all as expected')
