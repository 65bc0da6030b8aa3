import { brief } from '../core/cut-text.ts'
import { isBobbinError } from '../core/error.ts'
import type { ErrorCode } from '../core/error-codes.ts'
import type { JsonObject, JsonValue } from '../core/json.ts'
import { isIterable, wrongInput } from '../core/wrong-input.ts'
import { type Artifact, isArtifact } from '../spool/artifact.ts'
import { ArtifactTool } from '../tools/artifact-tool.ts'
import type { SelfDescribingSchema } from '../tools/input-schema.ts'
import { ToolRegistry } from '../tools/tool-registry.ts'
import { SCAN_MS } from './answer-limits.ts'
import { describeParameters, type Query, queriesOf, readParameters } from './query.ts'
import { renderAnswer } from './render-answer.ts'

/** What forging looks at: the calls that are visible in this request, oldest first. */
export interface ForgeContext {
  readonly turnToolCalls: Iterable<{
    readonly id: string
    readonly results: unknown
    readonly fromArtifactTool?: boolean
  }>
}

/** How artifact tools are forged: how they name calls, and how long they may take. */
export interface ForgeOptions {
  /** `string` keeps the schemas the same from request to request; `enum` lists the ids. */
  readonly callIds?: 'enum' | 'string'
  /** How long one answer may take. */
  readonly timeoutMs?: number
}

interface Selection extends ForgeOptions {
  readonly fits: (artifact: Artifact) => boolean
}

/** The newest calls that are offered: an enum of thousands would cost more than it helps. */
const MAX_CALLS = 64

/** What a model did wrong is answered; what is broken is thrown. */
const ANSWERED: readonly ErrorCode[] = [
  'E_ARTIFACT_MALFORMED',
  'E_INVALID_CURSOR',
  'E_INVALID_PATH',
  'E_LIMIT_EXCEEDED',
  'E_PATTERN_UNSUPPORTED',
]

type Calls = ReadonlyMap<string, readonly Artifact[]>

/** Makes one ephemeral tool for each query that some artifact of the context answers. */
export function forgeTools(context: ForgeContext, selection: Selection): ToolRegistry {
  if (!isIterable((context as ForgeContext | null | undefined)?.turnToolCalls)) {
    const rule = 'must be a list of calls, such as that of the context of a dispatch'
    throw wrongInput('forgeTools', 'turnToolCalls', rule)
  }
  const calls = artifactCalls(context, selection)
  const queries = new Map<string, Query>()
  for (const artifact of [...calls.values()].flat()) {
    for (const [name, query] of queriesOf(artifact.constructor)) {
      if (!queries.has(name)) queries.set(name, query)
    }
  }
  return new ToolRegistry([...queries.values()].map((query) => forge(query, calls, selection)))
}

/** An answer of an artifact tool is never offered: a model cannot grep a grep. */
function artifactCalls(context: ForgeContext, { fits }: Selection): Calls {
  const calls = new Map<string, readonly Artifact[]>()
  for (const { id, results, fromArtifactTool } of context.turnToolCalls) {
    if (fromArtifactTool === true) continue
    const artifacts: readonly unknown[] = Array.isArray(results) ? results : [results]
    if (artifacts.length === 0 || !artifacts.every(isArtifact)) continue
    if (artifacts.some(fits)) calls.set(id, artifacts)
  }
  return new Map([...calls].slice(-MAX_CALLS))
}

function forge(query: Query, all: Calls, selection: Selection): ArtifactTool {
  const answers = (artifact: Artifact) =>
    selection.fits(artifact) && queriesOf(artifact.constructor).has(query.name)
  const calls: Calls = new Map([...all].filter(([, artifacts]) => artifacts.some(answers)))
  return new ArtifactTool({
    name: `artifact_${query.name}`,
    description: query.description,
    inputSchema: inputSchema(query, calls, selection),
    effect: 'read',
    ephemeral: true,
    onCollision: 'replace',
    async handler(args, { signal }) {
      const { callId, index, ...rest } = args
      const found = find(calls, String(callId), index === undefined ? 0 : Number(index), answers)
      if (typeof found === 'string') return found
      const own = queriesOf(found.constructor).get(query.name) ?? query
      return run(own, found, rest, signal, selection.timeoutMs ?? SCAN_MS)
    },
  })
}

/** Shows the model an exact schema, and reads what it sends with patience. */
function inputSchema(
  { parameters }: Query,
  calls: Calls,
  { callIds = 'enum' }: Selection,
): SelfDescribingSchema<Record<string, unknown>> {
  const ids = [...calls.keys()]
  const several = Math.max(...[...calls.values()].map((artifacts) => artifacts.length))
  const { properties, required } = describeParameters(parameters)
  const callId: JsonObject = {
    type: 'string',
    description: 'The id of the tool call whose result to look into',
    ...(callIds === 'enum' && { enum: ids }),
  }
  const index: JsonValue = {
    type: 'integer',
    description: 'Which of the results of a call that gave several, counted from 0',
    minimum: 0,
    maximum: several - 1,
    default: 0,
  }
  const jsonSchema = {
    type: 'object',
    properties: { callId, ...((several > 1 || callIds === 'string') && { index }), ...properties },
    required: ['callId', ...required],
    additionalProperties: false,
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'bobbin',
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
      validate(raw) {
        const given = raw as Readonly<Record<string, unknown>>
        const { args, issues } = readParameters({ ...TARGET, ...parameters }, given)
        if (issues.length === 0) return { value: args }
        return { issues: issues.map(({ path, rule }) => ({ path: [path], message: rule })) }
      },
    },
  }
}

const TARGET = {
  callId: { type: 'string', description: '' },
  index: {
    type: 'integer',
    description: '',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    optional: true,
  },
} as const

/** The artifact that was meant, or what to tell the model instead. */
function find(
  calls: Calls,
  callId: string,
  index: number,
  answers: (artifact: Artifact) => boolean,
): Artifact | string {
  const artifacts = calls.get(callId)
  if (artifacts === undefined) {
    return `Error: this tool has no result of a call \`${shorten(callId)}\`. Use one of these as \`callId\`: ${listed([...calls.keys()])}.`
  }
  const artifact = artifacts[index]
  if (artifact !== undefined && answers(artifact)) return artifact
  const usable = artifacts.flatMap((each, at) => (answers(each) ? [String(at)] : []))
  const what =
    artifact === undefined
      ? `has no result ${index}`
      : `has a result ${index} of kind ${artifact.kind}, which this tool does not read`
  return `Error: the call \`${callId}\` ${what}. Use one of these as \`index\`: ${listed(usable)}.`
}

function listed(names: readonly string[]): string {
  const shown = names.slice(-20).map(shorten).join(', ')
  return names.length > 20 ? `${shown} (the newest 20 of ${names.length})` : shown
}

const shorten = (id: string) => brief(id, 101)

async function run(
  query: Query,
  artifact: Artifact,
  args: Record<string, unknown>,
  outer: AbortSignal,
  timeoutMs: number,
): Promise<string> {
  try {
    return await within(timeoutMs, outer, async (signal) =>
      renderAnswer(await query.run(artifact, args as never, { signal })),
    )
  } catch (error) {
    if (isBobbinError(error) && ANSWERED.includes(error.code)) {
      return renderAnswer(`Error: ${error.message}`)
    }
    if (error !== TOO_LATE) throw error
    return `Error: no answer within ${timeoutMs / 1000} s. Ask for less: fewer lines, a narrower range or path.`
  }
}

const TOO_LATE = new Error('the time for an answer is up')

/** Ends the wait at the time limit or the outer abort; work that does not heed its signal is left behind. */
async function within<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const relay = () => controller.abort(outer.reason)
  const timer = setTimeout(() => controller.abort(TOO_LATE), timeoutMs)
  outer.addEventListener('abort', relay, { once: true })
  if (outer.aborted) relay()
  try {
    signal.throwIfAborted()
    return await new Promise<T>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      work(signal).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', relay)
  }
}
