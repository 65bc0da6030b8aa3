import { text as readAll } from 'node:stream/consumers'
import { thrownText } from '../../core/error/thrown-text.ts'
import { isObject } from '../../core/error/wrong-input.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { visibleText } from '../../text/visible-text.ts'
import type { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { usageError } from '../command/usage-error.ts'
import { type DrivenTurn, driveTurn } from '../run/drive-turn.ts'
import { reasonText } from '../run/turn-summary.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { tell } from '../terminal/tell.ts'
import { writeJson } from '../terminal/write-json.ts'
import { answerer, openQuestion } from './call-answers.ts'
import { CallView } from './call-view.ts'
import type { McpValues } from './mcp-options.ts'
import { toolNamed, withServer } from './one-server.ts'
import { contentOf, type ResultPart } from './result-content.ts'

/** A person waits for the call and can end it: more time than a model gets. */
const TIMEOUT_MS = 10 * 60_000

/** Calls one tool of a server: its result goes to standard output, everything else to standard error. */
export async function callTool(
  values: McpValues,
  [wanted, name, json = '{}', extra]: readonly string[],
  io: Io,
): Promise<number> {
  if (wanted === undefined) throw usageError('`bobbin mcp call` needs a server.', 'mcp')
  if (name === undefined) throw usageError('`bobbin mcp call` needs the name of a tool.', 'mcp')
  if (extra !== undefined) {
    throw usageError(
      '`bobbin mcp call` takes a server, a tool and one JSON object: put each in quotes.',
      'mcp',
    )
  }
  const answers = (values.answer ?? []).map((text) => objectIn(text, '`--answer`'))
  const args = objectIn(json === '-' ? await readAll(io.stdin) : json, 'The arguments of the tool')
  return withServer(wanted, values, io, async (server) => {
    const tool = toolNamed(name, server)
    const turn = await driven(tool, args, { ...values, answers }, io)
    return tellEnd(turn, tool, values, io)
  })
}

function objectIn(text: string, what: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw usageError(`${what} cannot be read as JSON (${thrownText(error)}): ${QUOTES}`, 'mcp')
  }
  if (isObject(value) && !Array.isArray(value)) return value as JsonObject
  throw usageError(`${what} must be a JSON object: ${QUOTES}`, 'mcp')
}

const QUOTES = `write it in single quotes, as in '{"name":"value"}'.`

type CallValues = Omit<McpValues, 'answer'> & { readonly answers: readonly JsonObject[] }

async function driven(
  tool: Tool,
  args: JsonObject,
  values: CallValues,
  io: Io,
): Promise<DrivenTurn> {
  const runner = new TurnRunner({
    tools: [tool],
    policy: 'open',
    timeoutMs: TIMEOUT_MS,
    spool: memorySpool(),
    executor: async ({ turnToolCalls }) =>
      turnToolCalls.length > 0 ? { answer: '' } : { calls: [{ tool: tool.name, args }] },
  })
  const view = new CallView(io)
  view.attach(runner)
  const decide = answerer(values, io)
  try {
    const { signal } = io
    const start = () => runner.run({ message: tool.name, signal })
    return await driveTurn(runner, start, (gate) => view.still(() => decide(gate)), {
      signal,
      tell: (refusal) => tell(io, visibleText(refusal)),
    })
  } finally {
    view.stop()
  }
}

async function tellEnd(turn: DrivenTurn, tool: Tool, values: McpValues, io: Io): Promise<number> {
  const { outcome } = turn
  const record = turn.calls.findLast(({ settlement }) => settlement !== 'edited')
  if (io.signal.aborted) {
    fail(record?.settlement ?? 'aborted', `Interrupted. ${await errorOf(record)}`.trim())
    return EXIT.interrupted
  }
  if (outcome.status === 'suspended') {
    fail('waiting', openQuestion(outcome.gates))
    return EXIT.waiting
  }
  if (record === undefined) {
    fail('failed', reasonText(turn) ?? 'The call did not run.')
    return EXIT.failed
  }
  if (record.settlement !== 'ok') {
    fail(record.settlement, await errorOf(record))
    return EXIT.failed
  }
  const content = await contentOf(record)
  if (values.json === true) writeJson(io, { tool: tool.name, settlement: 'ok', content })
  else for (const part of content) io.stdout.data(`${partText(part)}\n`)
  return EXIT.ok

  function fail(settlement: string, message: string): void {
    if (values.json === true) {
      const error = { code: 'CALL_FAILED', settlement, message }
      writeJson({ stdout: io.stderr }, { error })
    } else tell(io, `\`${tool.name}\` ${settlement}: ${message}`)
  }
}

async function errorOf(record: ToolCall | undefined): Promise<string> {
  const parts = record === undefined ? [] : await contentOf(record)
  const text = parts.map(partText).join('\n')
  // The settlement says so already.
  return text.replace(`The tool \`${record?.tool}\` failed: `, '')
}

const partText = (part: ResultPart) =>
  part.type === 'text' ? part.text : `[${part.mimeType}, ${part.byteLength} bytes]`
