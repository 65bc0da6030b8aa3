import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { attribute, type OtlpSpan, openReceiver, type Receiver, treeOf } from '../otel/received.ts'

let receiver: Receiver
let folder: string
beforeEach(async () => {
  receiver = await openReceiver()
  folder = mkdtempSync(join(tmpdir(), 'bobbin-otel-'))
})
afterEach(() => {
  receiver.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a program that sends to the receiver. */
async function program(
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
  onError: (child: ChildProcess, text: string) => void = () => {},
) {
  const env = {
    ...process.env,
    CI: '',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...more,
  }
  const child = spawn(process.execPath, [...args], { cwd: folder, env, stdio: 'pipe' })
  child.stdin.end()
  let [output, errors] = ['', '']
  child.stdout.on('data', (text: Buffer) => (output += text.toString()))
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString()
    onError(child, text.toString())
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, output, errors }
}

const PROGRAM = inRoot('test', 'otel', 'traced-process.mjs')
const CLI = inRoot('dist', 'cli', 'main.js')

async function played(...works: readonly string[]): Promise<readonly OtlpSpan[]> {
  for (const work of works) {
    const { errors } = await program([PROGRAM, work, join(folder, 'a.db')])
    expect(errors).toBe('')
  }
  return receiver.spans()
}

const named = (spans: readonly OtlpSpan[], name: string) =>
  spans.filter((span) => span.name === name)

describe('what an OTLP receiver in another process gets', () => {
  it('has parallel calls side by side, each with the spans of its handler', async () => {
    const call = ['execute_tool look', 'work of the handler']
    expect(treeOf(await played('parallel'))).toEqual([
      ['invoke_agent', 'chat scripted', 'chat scripted', call, call, call],
    ])
  })

  it('has the turn of a sub-agent inside its call', async () => {
    const inner = [
      'invoke_agent inner',
      'chat scripted',
      'chat scripted',
      ['execute_tool look', 'work of the handler'],
    ]
    expect(treeOf(await played('nested'))).toEqual([
      ['invoke_agent', 'chat scripted', 'chat scripted', ['execute_tool inner', inner]],
    ])
  })

  it('has a span for each attempt at a model', async () => {
    const spans = await played('retried')
    expect(treeOf(spans)).toEqual([
      ['invoke_agent', 'chat scripted', 'chat scripted', 'chat scripted'],
    ])
    const errors = named(spans, 'chat scripted').map((span) => attribute(span, 'error.type'))
    expect(errors).toEqual(['E_PROVIDER_UNAVAILABLE', 'E_PROVIDER_UNAVAILABLE', undefined])
  })

  it('has a gate as an event, and a link from the turn that continues in another process', async () => {
    const spans = await played('gated', 'resumed')
    expect(treeOf(spans)).toEqual([
      ['invoke_agent', 'chat scripted', 'execute_tool send'],
      ['invoke_agent', 'chat scripted'],
    ])
    const [asked, resumed] = named(spans, 'invoke_agent')
    expect(asked?.events?.map(({ name }) => name)).toEqual(['bobbin.gate'])
    expect(attribute(asked as OtlpSpan, 'bobbin.turn.status')).toBe('suspended')
    const { traceId, spanId } = asked as OtlpSpan
    expect(resumed?.links).toMatchObject([{ traceId, spanId }])
    expect(resumed?.traceId).not.toBe(traceId)
  })

  it('has a link from the turn that recovers a killed process', async () => {
    const spans = await played('killed', 'recovered')
    // The process died before the spans of the turn and of the second call had ended.
    expect(treeOf(spans)).toEqual([
      'chat scripted',
      ['execute_tool look', 'work of the handler'],
      ['invoke_agent', 'chat scripted'],
    ])
    const [recovered] = named(spans, 'invoke_agent')
    const [ran] = named(spans, 'execute_tool look')
    const link = { traceId: ran?.traceId, spanId: ran?.parentSpanId }
    expect(recovered?.links).toMatchObject([link])
    expect(attribute(recovered as OtlpSpan, 'bobbin.turn.input')).toBe('recover')
  })

  it('has the call of an MCP server in another process inside that of its client', async () => {
    const served = ['tools/call look', 'work of the handler']
    expect(treeOf(await played('remote'))).toEqual([
      ['invoke_agent', 'chat scripted', 'chat scripted', ['execute_tool look', served]],
    ])
  })

  it('has no content, whatever was played', async () => {
    await played('parallel', 'nested', 'retried', 'gated', 'resumed', 'killed', 'recovered')
    await played('remote')
    const everything = JSON.stringify(await receiver.all())
    expect(everything).toContain('invoke_agent')
    expect(everything).not.toContain('CANARY')
  })
})

describe('bobbin run --otel', () => {
  const AGENT = inRoot('examples', 'incident', 'agent.ts')
  const run = (more: Readonly<Record<string, string>> = {}) => {
    const store = join(folder, 'cli.db')
    const args = ['run', '--otel', '--offline', '-a', AGENT, '--store', store, 'CANARY-question']
    return program([CLI, ...args], more)
  }

  it('sends the spans and metrics of a turn, and not the question', async () => {
    const { code, errors } = await run()
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    const all = await receiver.all()
    expect(new Set(all.map(({ path }) => path))).toEqual(new Set(['/v1/traces', '/v1/metrics']))
    const [root, ...others] = await receiver.spans()
    expect(root?.name).toBe('invoke_agent')
    expect(named(others, 'execute_tool read_log').length).toBeGreaterThan(0)
    const everything = JSON.stringify(all)
    expect(everything).toContain('\\"bobbin\\"')
    expect(everything).not.toContain('CANARY')
  })

  it('takes the name of the service from where the SDK takes it', async () => {
    const names = async (more: Readonly<Record<string, string>>) => {
      const before = (await receiver.all()).length
      await run(more)
      const bodies = (await receiver.all()).slice(before).map(({ body }) => body)
      const found = bodies.flatMap((body) => [
        ...body.matchAll(/"service\.name","value":\{"stringValue":"([^"]*)"/g),
      ])
      return [...new Set(found.map(([, name]) => name))]
    }
    expect(await names({ OTEL_SERVICE_NAME: '' })).toEqual(['bobbin'])
    expect(await names({ OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop' })).toEqual(['shop'])
  })

  it('writes answers and nothing else, whatever the SDK would log', async () => {
    const { code, output, errors } = await run({ OTEL_LOG_LEVEL: 'all' })
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).toMatch(/^> CANARY-question\n/)
    expect(output).not.toMatch(/opentelemetry|registered a global|OTEL_|exporter/i)
  })

  it('says it without the credentials in the address', async () => {
    const { code, output, errors } = await run({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://ann:SECRET@127.0.0.1:9/in?key=SECRET',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://ann:SECRET@127.0.0.1:9/m',
    })
    expect(code).toBe(0)
    expect(errors).toMatch(
      /could not be sent to http:\/\/127\.0\.0\.1:9\/in and http:\/\/127\.0\.0\.1:9\/m: /,
    )
    expect(output + errors).not.toMatch(/SECRET|ann:/)
  })

  it('waits a bounded time for a receiver that hangs', async () => {
    const hanging = await openReceiver('hangs')
    try {
      const startedAt = performance.now()
      const { code, output, errors } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url })
      expect([code, output.includes('completed')]).toEqual([0, true])
      expect(errors).toBe(
        `bobbin: telemetry could not be sent to ${hanging.url}: no answer within 5 s\n`,
      )
      expect(performance.now() - startedAt).toBeLessThan(15_000)
      expect((await hanging.spans()).map(({ name }) => name)).toContain('invoke_agent')
    } finally {
      hanging.close()
    }
  })

  it('says that some of it was lost when only early exports failed', async () => {
    const failing = await openReceiver('refuses-first')
    try {
      const { code, errors } = await run({
        OTEL_EXPORTER_OTLP_ENDPOINT: failing.url,
        // The first spans are sent while the turn runs.
        OTEL_BSP_SCHEDULE_DELAY: '1',
      })
      expect(code).toBe(0)
      expect(errors).toMatch(/^bobbin: some telemetry could not be sent to http:.+\n$/)
    } finally {
      failing.close()
    }
  })

  it('sends what there is after Ctrl-C', async () => {
    const agent = inRoot('test', 'otel', 'slow-agent.mjs')
    const args = ['run', '--otel', '-a', agent, '--store', join(folder, 'slow.db'), 'hi']
    let isStopped = false
    await program([CLI, ...args], {}, (child, text) => {
      if (isStopped || !text.includes('the call runs')) return
      isStopped = true
      child.kill('SIGINT')
    })
    const spans = await receiver.spans()
    expect(treeOf(spans)).toEqual([['invoke_agent', 'chat scripted', 'execute_tool slow']])
    const [turn] = named(spans, 'invoke_agent')
    expect(attribute(turn as OtlpSpan, 'bobbin.turn.status')).toBe('aborted')
  })

  it('speaks protobuf unless told otherwise', async () => {
    const { code } = await run({ OTEL_EXPORTER_OTLP_PROTOCOL: '', OTEL_SERVICE_NAME: 'my-shop' })
    expect(code).toBe(0)
    const traces = (await receiver.all()).filter(({ path }) => path === '/v1/traces')
    expect(traces.map(({ type }) => type)).toEqual(['application/x-protobuf'])
    expect(traces[0]?.body).toContain('my-shop')
    expect(traces[0]?.body).not.toContain('CANARY')
  })

  it('answers all the same if nothing listens there, and says so', async () => {
    const { code, output, errors } = await run({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    })
    expect(code).toBe(0)
    expect(output).toContain('completed')
    expect(errors).toMatch(/^bobbin: telemetry could not be sent to http:\/\/127\.0\.0\.1:9: .+\n$/)
  })
})
