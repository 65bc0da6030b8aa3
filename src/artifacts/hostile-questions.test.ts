import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { runs } from '../../test/runs.ts'
import { isBobbinError } from '../core/error/error.ts'
import type { JsonObject } from '../core/json/json.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { Tool } from '../tools/tool.ts'
import { SpooledArtifact } from './spooled-artifact.ts'
import { SpooledJsonArtifact } from './spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from './spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from './spooled-table-artifact.ts'

const CLASSES = [
  SpooledArtifact,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  SpooledTableArtifact,
]
const spool = memorySpool()

/** Text that looks a little like each format, and bytes that are no text at all. */
const pieces = fc.constantFrom(
  ...[
    '{"a":1}',
    '{"\\ud800":2}',
    '[1,[2],{"b":null}]',
    '\n',
    '\r\n',
    ',',
    '"',
    '""',
    '# h',
    '```',
    '---',
    'a,b',
  ],
  ...['[x](y)', '\u0000', '日本', '👋', '\ufeff', '{', ']', '1e5', '\\u12', ' ', '\t', '<!--'],
)
const content = fc.oneof(
  fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join('')),
  fc.uint8Array({ maxLength: 200 }),
)

const words = fc.constantFrom(
  ...['', 'a', 'a[0].b', '/0/b', '["x', '.*', '(', '\\', 'line:1', 'line:0+3', 'item:1@5', '3'],
  ...['equals', 'less', '__proto__', '0', 'item:99@99999999', 'line:999999999999', 'h'],
)
const value = fc.oneof(
  words,
  fc.integer(),
  fc.double({ min: -1e15, max: 1e15, noNaN: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(words),
)

describe('forged tools asked anything about anything', () => {
  beforeAll(() => import('marked'))

  it('answer within bounds, or fail for a mistake of the model, in few words', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        content,
        fc.constantFrom(...CLASSES),
        fc.infiniteStream(value),
        async (bytes, Class, values) => {
          const results = new Class(await spool.write(bytes))
          for (const tool of SpooledArtifact.forgeTools({
            turnToolCalls: [{ id: 'c', results }],
          })) {
            if (tool.name === 'artifact_estimate_tokens') continue
            const answer = await tool
              .executor()({ ...argumentsFor(tool, values), callId: 'c' })
              .catch((error: unknown) => {
                if (isBobbinError(error, 'E_ARGUMENTS_REJECTED')) return 'refused'
                const isMistake = isBobbinError(error, 'E_TOOL_DOWNSTREAM_ERROR')
                if (!isMistake || !isExpected(error.cause)) throw error
                return error.message
              })
            if (typeof answer !== 'string') throw new Error(`${tool.name} gave no text`)
            expect(answer.length).toBeLessThan(20_500)
            expect(answer.isWellFormed()).toBe(true)
          }
        },
      ),
      { numRuns: runs(250) },
    )
  })
})

const MISTAKES = [
  'E_ARTIFACT_MALFORMED',
  'E_INVALID_CURSOR',
  'E_INVALID_PATH',
  'E_LIMIT_EXCEEDED',
  'E_PATTERN_UNSUPPORTED',
]

/** Mistakes of the model, and nothing else, fail a call. */
const isExpected = (cause: unknown) =>
  isBobbinError(cause) ? MISTAKES.includes(cause.code) : /no result \d|of kind/.test(String(cause))

/** Arguments of the right type where one fits, and of any type now and then. */
function argumentsFor(tool: Tool, values: Iterator<unknown>): Record<string, unknown> {
  const properties = tool.jsonSchema['properties'] as Record<string, JsonObject>
  const args: Record<string, unknown> = {}
  for (const [name, { type, enum: allowed }] of Object.entries(properties)) {
    const [first, second]: unknown[] = [values.next().value, values.next().value]
    if (typeof first === 'boolean') args[name] = second
    else if (Array.isArray(allowed))
      args[name] = allowed[JSON.stringify(second).length % allowed.length]
    else if (type === 'integer') args[name] = typeof second === 'number' ? second : 1
    else if (type === 'string') args[name] = typeof second === 'string' ? second : 'a'
    else args[name] = second
  }
  return args
}
