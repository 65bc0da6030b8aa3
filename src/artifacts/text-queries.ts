import { loadAnswers } from './load-answers.ts'
import { DEFAULT_LINES, MAX_LINES } from './query/answer-limits.ts'
import { CURSOR, type Query, query } from './query/query.ts'
import type { QueryableText } from './query/text-answers.ts'

const LINES = {
  type: 'integer',
  description: `How many lines, at most ${MAX_LINES}`,
  minimum: 1,
  maximum: MAX_LINES,
} as const

const LINE_NUMBER = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

const head = query({
  name: 'head',
  description: 'Shows the first lines, each with its number (from 0).',
  parameters: { lines: { ...LINES, default: 20 } },
  run: async (text: QueryableText, { lines }) =>
    (await loadAnswers()).showWindow(text, { start: 0, end: lines }),
})

const tail = query({
  name: 'tail',
  description: 'Shows the last lines, each with its number (from 0).',
  parameters: { lines: { ...LINES, default: 20 } },
  run: async (text: QueryableText, args) => (await loadAnswers()).showTail(text, args),
})

const cat = query({
  name: 'cat',
  description:
    'Shows the lines from `start` to before `end`, counted from 0, each with its number. Ask for one line to see all of a long one.',
  parameters: {
    start: { ...LINE_NUMBER, description: 'The first line, counted from 0', default: 0 },
    end: {
      ...LINE_NUMBER,
      description: `The line to stop before; ${DEFAULT_LINES} lines when left out`,
      optional: true,
    },
    cursor: CURSOR,
  },
  run: async (text: QueryableText, args) => (await loadAnswers()).showLines(text, args),
})

const grep = query({
  name: 'grep',
  description:
    'Finds the lines that match a pattern, with their numbers (from 0). RE2 syntax: no look-around, no back-references.',
  parameters: {
    pattern: { type: 'string', description: 'A regular expression', maxLength: 1_000 },
    literal: {
      type: 'boolean',
      description: 'Take the pattern as plain text',
      default: false,
    },
    ignoreCase: { type: 'boolean', description: 'Do not tell case apart', default: false },
    context: {
      type: 'integer',
      description: 'Lines to show around each match',
      minimum: 0,
      maximum: 20,
      default: 0,
    },
    limit: {
      type: 'integer',
      description: 'How many matches to show',
      minimum: 1,
      maximum: 500,
      default: 50,
    },
    cursor: CURSOR,
  },
  run: async (text: QueryableText, args, context) =>
    (await loadAnswers()).searchLines(text, args, context),
})

const byteLength = query({
  name: 'byte_length',
  description: 'Tells the size in bytes.',
  parameters: {},
  run: (text: QueryableText) => `${text.byteLength()} bytes`,
})

const lineCount = query({
  name: 'line_count',
  description: 'Tells the number of lines.',
  parameters: {},
  run: (text: QueryableText) => `${text.lineCount()} lines`,
})

const estimateTokens = query({
  name: 'estimate_tokens',
  description: 'Tells how many tokens the whole text would take.',
  parameters: {},
  async run(text: QueryableText) {
    const { tokens, isEstimate } = await text.estimateTokens()
    return `${isEstimate ? 'about ' : ''}${tokens} tokens`
  },
})

/** The queries that every artifact answers. */
export const textQueries: readonly Query[] = [
  head,
  tail,
  grep,
  cat,
  byteLength,
  lineCount,
  estimateTokens,
]
