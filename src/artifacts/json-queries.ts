import type { QueryableJson } from './json/json-answers.ts'
import { loadAnswers } from './load-answers.ts'
import { FILTER_OPERATORS } from './query/json-filter.ts'
import { CURSOR, type Query, query } from './query/query.ts'

const PATH = {
  type: 'string',
  description: 'Where in the document, such as users[0].name; the root when left out',
  maxLength: 1_000,
  default: '',
} as const

const FIELD = {
  type: 'string',
  description: 'A path inside each item, such as address.city',
  maxLength: 1_000,
} as const

const POSITION = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const START = { ...POSITION, description: 'The first item, counted from 0', default: 0 } as const
const LIMIT = {
  type: 'integer',
  description: 'How many items to show',
  minimum: 1,
  maximum: 500,
  default: 50,
} as const

const type = query({
  name: 'json_type',
  description: 'Tells the type of a value: object, array, string, number, boolean, null or NDJSON.',
  parameters: { path: PATH },
  async run(json: QueryableJson, { path }, { signal }) {
    const found = await json.type(path, { signal })
    return found === 'lines' ? 'NDJSON: one value a line' : found
  },
})

const keys = query({
  name: 'json_keys',
  description:
    'Lists the keys of an object; for an array or NDJSON, the keys of its first 1,000 items.',
  parameters: { path: PATH },
  run: async (json: QueryableJson, args, context) =>
    (await loadAnswers()).listKeys(json, args, context),
})

const length = query({
  name: 'json_length',
  description: 'Counts the items of an array, the members of an object, or the values of NDJSON.',
  parameters: { path: PATH },
  run: async (json: QueryableJson, { path }, { signal }) =>
    String(await json.length(path, { signal })),
})

const get = query({
  name: 'json_get',
  description: 'Shows the value at a path, as it is written in the document.',
  parameters: { path: PATH },
  run: async (json: QueryableJson, args, context) =>
    (await loadAnswers()).showValue(json, args, context),
})

const slice = query({
  name: 'json_slice',
  description: 'Shows some items of an array, an object or NDJSON, each with its position.',
  parameters: { path: PATH, start: START, limit: LIMIT, cursor: CURSOR },
  run: async (json: QueryableJson, args, context) =>
    (await loadAnswers()).sliceItems(json, args, context),
})

const pluck = query({
  name: 'json_pluck',
  description: 'Shows the same fields of many items of an array, an object or NDJSON.',
  parameters: {
    path: PATH,
    fields: { type: 'strings', description: 'Paths inside each item', maxItems: 20 },
    start: START,
    limit: LIMIT,
    cursor: CURSOR,
  },
  run: async (json: QueryableJson, args, context) =>
    (await loadAnswers()).pluckItems(json, args, context),
})

const filter = query({
  name: 'json_filter',
  description:
    'Finds the items of an array, an object or NDJSON whose field satisfies a condition.',
  parameters: {
    path: PATH,
    field: FIELD,
    operator: { type: 'string', description: 'How to compare', enum: FILTER_OPERATORS },
    value: { type: 'scalar', description: 'What to compare with', optional: true },
    start: START,
    limit: LIMIT,
    cursor: CURSOR,
  },
  run: async (json: QueryableJson, args, context) =>
    (await loadAnswers()).filterItems(json, args, context),
})

/** The queries that JSON answers beside those on text. */
export const jsonQueries: readonly Query[] = [type, keys, length, get, slice, pluck, filter]
