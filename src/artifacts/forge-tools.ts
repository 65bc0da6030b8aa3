import { isIterable, wrongInput } from '../core/error/wrong-input.ts'
import type { JsonObject, JsonValue } from '../core/json/json.ts'
import { type Artifact, isArtifact } from '../spool/artifact.ts'
import { ArtifactTool } from '../tools/artifact-tool.ts'
import type { SelfDescribingSchema } from '../tools/input-schema.ts'
import { ToolRegistry } from '../tools/tool-registry.ts'
import { loadAnswers } from './load-answers.ts'
import { SCAN_MS } from './query/answer-limits.ts'
import type { OpenArtifact } from './query/answer-query.ts'
import { type Calls, unknownCall } from './query/known-calls.ts'
import { describeParameters, type Query, queriesOf, readParameters } from './query/query.ts'

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
  /**
   * Makes tools for every query of these classes, whatever calls there are. They never change: their `callId` is a plain
   * string, and they read the calls of the context at the time they are asked.
   */
  readonly classes?: Iterable<unknown>
  /** Gives what a query of an artifact is about, if that is something else: a link leads to it. */
  readonly open?: OpenArtifact
}

/** The newest calls that are offered: an enum of thousands would cost more than it helps. */
const MAX_CALLS = 64

/** Makes one ephemeral tool for each query that some artifact of the context answers. */
export function forgeTools(context: ForgeContext, selection: Selection): ToolRegistry {
  if (!isIterable((context as ForgeContext | null | undefined)?.turnToolCalls)) {
    const rule = 'must be a list of calls, such as that of the context of a dispatch'
    throw wrongInput('forgeTools', 'turnToolCalls', rule)
  }
  const calls = artifactCalls(context, selection)
  const found = [...calls.values()].flatMap((list) => list.map((each) => each.constructor))
  const queries = new Map<string, Query>()
  for (const Class of selection.classes ?? found) {
    for (const [name, query] of queriesOf(Class)) if (!queries.has(name)) queries.set(name, query)
  }
  const current = selection.classes ? () => artifactCalls(context, selection) : () => calls
  return new ToolRegistry([...queries.values()].map((query) => forge(query, current, selection)))
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

function forge(query: Query, all: () => Calls, selection: Selection): ArtifactTool {
  const { timeoutMs = SCAN_MS, open } = selection
  const answers = (artifact: Artifact) =>
    selection.fits(artifact) && queriesOf(artifact.constructor).has(query.name)
  const calls = (): Calls => new Map([...all()].filter(([, artifacts]) => artifacts.some(answers)))
  return new ArtifactTool({
    name: `artifact_${query.name}`,
    description: query.description,
    inputSchema: inputSchema(query, calls, selection),
    effect: 'read',
    ephemeral: true,
    onCollision: 'replace',
    async handler(args, { signal }) {
      const { answerQuery } = await loadAnswers()
      return answerQuery(query, args, { calls: calls(), answers, open, signal, timeoutMs })
    },
  })
}

/** Shows the model an exact schema, and reads what it sends with patience. */
function inputSchema(
  { parameters }: Query,
  calls: () => Calls,
  { classes, callIds = classes ? 'string' : 'enum' }: Selection,
): SelfDescribingSchema<Record<string, unknown>> {
  const isEnum = callIds === 'enum'
  const several = Math.max(...[...calls().values()].map((artifacts) => artifacts.length))
  const { properties, required } = describeParameters(parameters)
  const callId: JsonObject = {
    type: 'string',
    description: 'The id of the tool call whose result to look into',
    ...(isEnum && { enum: [...calls().keys()] }),
  }
  const index: JsonValue = {
    type: 'integer',
    description: 'Which of the results of a call that gave several, counted from 0',
    minimum: 0,
    ...(isEnum && { maximum: several - 1 }),
    default: 0,
  }
  const jsonSchema = {
    type: 'object',
    properties: { callId, ...((several > 1 || !isEnum) && { index }), ...properties },
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
        if (issues.length === 0) {
          const rule = unknownCall(calls(), String(args['callId']))
          if (rule !== undefined) issues.push({ path: 'callId', rule })
        }
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
