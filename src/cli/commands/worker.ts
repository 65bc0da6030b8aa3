import { createServer, type ServerHttp2Session } from 'node:http2'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { command, type Values } from '../command/command.ts'
import { usageError } from '../command/usage-error.ts'
import { runnerOptions } from '../run/agent.ts'
import type { LoadedAgent } from '../run/agent-file.ts'
import { MODEL_OPTIONS } from '../run/model-choice.ts'
import { mindOf } from '../run/turn-session.ts'
import { withAgent } from '../run/with-agent.ts'
import { OTEL_OPTION } from '../run/with-telemetry.ts'
import { EXIT, type Io } from '../terminal/io.ts'

const OPTIONS = {
  restate: {
    type: 'string',
    value: 'URL',
    help: 'The admin address of the engine, to register this worker; http://127.0.0.1:9070 unless given',
  },
  postgres: { type: 'string', value: 'URL', help: 'The database with the records' },
  s3: {
    type: 'string',
    value: 'URL',
    help: 'The bucket for larger results, as in https://s3.eu-central-1.amazonaws.com/BUCKET/PREFIX; in the database unless given. Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  },
  name: {
    type: 'string',
    value: 'NAME',
    help: 'The name of the agent in the engine; Agent unless given',
  },
  port: {
    type: 'string',
    value: 'N',
    help: 'Where the engine reaches this worker; 9080 unless given',
  },
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'Where to listen; 127.0.0.1 unless given. Requests are not signed: let only the engine reach it',
  },
  url: {
    type: 'string',
    value: 'URL',
    help: 'The address that the engine calls, such as that of a load balancer; http://127.0.0.1:PORT unless given',
  },
  'no-register': { type: 'boolean', help: 'Do not register with the engine' },
  ...MODEL_OPTIONS,
  ...OTEL_OPTION,
} as const

type WorkerValues = Values<typeof OPTIONS>

/** How long running turns may take after Ctrl-C. */
const DRAIN_MS = 30_000

export const worker = command({
  name: 'worker',
  usage: ['worker [AGENT] --postgres URL'],
  about:
    'Runs the turns of an agent that clients ask a Restate engine for (`restateClient`). Start as many as you need. Ctrl-C takes no new turns and ends when the running ones have ended, or after 30 seconds; again ends at once. Another worker recovers what did not end.',
  options: OPTIONS,
  async run({ values, positionals: [file] }, io) {
    if (values.postgres === undefined) {
      throw usageError(
        '`bobbin worker` needs `--postgres URL`: workers share one database.',
        'worker',
      )
    }
    const place = { url: values.postgres, port: portOf(values.port) }
    return withAgent({ ...values, ...(file !== undefined && { agent: file }) }, io, (loaded) =>
      work(loaded, place, values, io),
    )
  },
})

async function work(
  { agent, file }: LoadedAgent,
  { url, port }: { readonly url: string; readonly port: number },
  values: WorkerValues,
  io: Io,
): Promise<number> {
  const { name = 'Agent', host = '127.0.0.1' } = values
  const mind = await mindOf(agent, values, io, file)
  const [{ endpoint }, { restateAgent }, { postgresStore }] = await loadEngine()
  const spool = await spoolOf(values, io)
  const store = postgresStore({ url, ...(spool && { spool }) })
  try {
    await store.conversations({ limit: 1 })
    const options = runnerOptions(agent)
    const runner = new TurnRunner({ ...options, ...mind, store })
    const service = endpoint().bind(restateAgent({ name, runner }))
    await serve(service.http2Handler(), { port, host }, io, async () => {
      const at = values.url ?? `http://127.0.0.1:${port}`
      if (values['no-register'] !== true) await register(values.restate ?? ADMIN, at)
      io.stdout.write(`Worker for ${name} at ${at}. Ctrl-C ends it.\n`)
    })
  } finally {
    await store.close()
  }
  return EXIT.ok
}

const ADMIN = 'http://127.0.0.1:9070'

function portOf(given = '9080'): number {
  const port = Number(given)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw usageError(`\`--port ${given}\` is not a port: write a number from 1 to 65535.`, 'worker')
}

async function loadEngine() {
  try {
    const agents = await import('../../restate/index.ts')
    const sdk = await import('@restatedev/restate-sdk')
    return [sdk, agents, await import('../../stores/postgres/index.ts')] as const
  } catch (error) {
    const [said = ''] = thrownText(error).split('\n')
    throw usageError(
      `\`bobbin worker\` needs \`npm install @restatedev/restate-sdk postgres\`: ${said}`,
    )
  }
}

/** The bucket that `--s3` names. */
async function spoolOf({ s3 }: WorkerValues, { env }: Io): Promise<SpoolStore | undefined> {
  if (s3 === undefined) return undefined
  const url = URL.canParse(s3) ? new URL(s3) : undefined
  const [bucket = '', ...rest] = (url?.pathname ?? '').split('/').filter((part) => part !== '')
  if (url === undefined || bucket === '') {
    throw usageError(`\`--s3 ${s3}\` names no bucket: write https://HOST/BUCKET/PREFIX.`, 'worker')
  }
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!accessKeyId || !secretAccessKey) {
    throw usageError('`--s3` needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.', 'worker')
  }
  const { s3Spool } = await import('../../stores/s3/index.ts')
  const { AWS_REGION: region, AWS_SESSION_TOKEN: sessionToken } = env
  return s3Spool({
    endpoint: url.origin,
    bucket,
    prefix: rest.join('/'),
    accessKeyId,
    secretAccessKey,
    ...(region && { region }),
    ...(sessionToken && { sessionToken }),
    retryTimeoutMs: 30_000,
  })
}

/** Serves until the signal aborts, then lets running turns end. */
async function serve(
  handler: Parameters<typeof createServer>[1] & {},
  { port, host }: { readonly port: number; readonly host: string },
  { signal, stderr }: Io,
  begin: () => Promise<void>,
): Promise<void> {
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer(handler)
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  try {
    await begin()
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  } finally {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const session of sessions) session.close()
    if (sessions.size > 0) stderr.write('Waiting for running turns. Ctrl-C again ends them.\n')
    const late = new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())
    await Promise.race([closed, late])
    for (const session of sessions) session.destroy()
  }
}

/** Tells the engine where this worker is. */
async function register(admin: string, uri: string): Promise<void> {
  const body = JSON.stringify({ uri, force: true })
  const headers = { 'content-type': 'application/json' }
  let said: string
  try {
    const response = await fetch(new URL('/deployments', admin), { method: 'POST', headers, body })
    if (response.ok) return
    said = `it refused this worker: ${(await response.text()).slice(0, 300)}`
  } catch (error) {
    const cause: unknown = error instanceof Error ? (error.cause ?? error) : error
    said = `it gave no answer (${thrownText(cause)})`
  }
  throw usageError(`The engine at ${admin} cannot be used: ${said}. Check \`--restate\`.`, 'worker')
}
