import { BobbinError } from '../core/error.ts'

/** What a runner may do in a conversation that has seen a stranger's text: see `policy`. */
export const TRUST_POLICIES = ['default', 'strict', 'open'] as const

type Test = (value: unknown) => boolean

const isFunction: Test = (value) => typeof value === 'function'
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const at = (value: object, name: string) => (value as Readonly<Record<string, unknown>>)[name]
/** A class will do where its static methods fit, as those of `Date` make a clock. */
const has =
  (...methods: readonly string[]): Test =>
  (value) =>
    (isObject(value) || typeof value === 'function') &&
    methods.every((name) => isFunction(at(value, name)))

const atLeast = (least: number): readonly [Test, string] => [
  (value) => typeof value === 'number' && value >= least,
  `It must be a number of at least ${least}`,
]

/** Each option, what it must pass, and the way out. Types cannot speak for JavaScript callers. */
const RULES = {
  model: [
    has('stream'),
    "It must be a model, such as `openaiResponses({ client: new OpenAI(), model: '…' })` of `bobbin/openai`",
  ],
  executor: [isFunction, 'It must be a function that returns `{ calls }` or `{ answer }`'],
  tools: [
    (value) => isObject(value) && Symbol.iterator in value,
    'It must be a list: `[new Tool({ … })]`',
  ],
  instructions: [(value) => typeof value === 'string', 'It must be a string'],
  store: [
    has('acquire', 'append', 'entries'),
    "It must be a store: `memoryStore()`, or `sqliteStore('agent.db')` of `bobbin/sqlite`",
  ],
  spool: [
    has('write', 'read'),
    'It must be a spool store: `memorySpool()`, or `fileSpool(folder)` of `bobbin/fs`',
  ],
  approve: [
    isFunction,
    'It must be a function of a request; `async () => true` approves everything',
  ],
  middleware: [
    (value) => Array.isArray(value) && value.every(isMiddleware),
    'It must be a list of objects with functions named `turn`, `dispatch` or `call`',
  ],
  maxIterations: atLeast(1),
  maxCalls: atLeast(1),
  maxTimeMs: atLeast(1),
  concurrency: atLeast(1),
  timeoutMs: atLeast(1),
  retries: atLeast(0),
  repeat: [isObject, 'It must be `{ hint, refuse, stop }`; `Infinity` turns one off'],
  budget: [isObject, 'It must be `{ maxTokens }`'],
  policy: [
    (value) => (TRUST_POLICIES as readonly unknown[]).includes(value),
    `It must be one of ${TRUST_POLICIES.join(', ')}`,
  ],
  secret: [
    (value) => ArrayBuffer.isView(value) && value.byteLength >= 32,
    'It must be a Uint8Array of random bytes, at least 32 bytes long',
  ],
  secrets: [isFunction, 'It must be a function from a name to its secret'],
  artifacts: [
    (value) => Array.isArray(value) && value.every(isFunction),
    'It must be a list of classes',
  ],
  clock: [has('now'), 'It must have a `now()`'],
  ids: [isFunction, 'It must be a function that makes ids'],
  sleep: [isFunction, 'It must be a function of milliseconds and a signal'],
} satisfies Readonly<Record<string, readonly [Test, string]>>

/** What a runner can be told. */
export type OptionName = keyof typeof RULES

/** Whether a runner knows an option of this name. */
export const isRunnerOption = (name: string): name is OptionName => Object.hasOwn(RULES, name)

function isMiddleware(value: unknown): boolean {
  const isPart = (name: string) => {
    const part = at(value as object, name)
    return part === undefined || isFunction(part)
  }
  return isObject(value) && ['turn', 'dispatch', 'call'].every(isPart)
}

/** Refuses options that no turn could be run with, before one is. */
export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw needsExecutor()
  for (const [name, value] of Object.entries(options)) {
    if (!isRunnerOption(name)) {
      throw invalidRunner(
        `knows no \`${name}\``,
        `Its options are ${Object.keys(RULES).join(', ')}`,
      )
    }
    check(name, value, RULES[name])
  }
  checkNumbers(options)
  const [model, executor] = [at(options, 'model'), at(options, 'executor')]
  if (model === undefined && executor === undefined) throw needsExecutor()
  if (model !== undefined && executor !== undefined) {
    throw invalidRunner('has both a `model` and an `executor`', 'Pass one of them')
  }
}

function check(name: string, value: unknown, [test, wayOut]: readonly [Test, string]): void {
  if (value === undefined || test(value)) return
  const what =
    name === 'secret' ? 'has a `secret` that is none' : `has \`${name}: ${shown(value)}\``
  throw invalidRunner(what, wayOut)
}

/** A limit that is no number holds nothing, and nobody would notice. */
function checkNumbers({ repeat, budget }: { readonly repeat?: object; readonly budget?: object }) {
  for (const name of ['hint', 'refuse', 'stop']) {
    check(`repeat.${name}`, repeat && at(repeat, name), atLeast(1))
  }
  if (budget) check('budget.maxTokens', at(budget, 'maxTokens') ?? Number.NaN, atLeast(1))
}

const needsExecutor = () =>
  invalidRunner('needs a `model` or an `executor`', 'Pass one of them, in an object of options')

/** Enough to recognise what was passed; a long text is not repeated. */
function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return `${value}`
  if (typeof value === 'string') return value.length <= 20 ? `'${value}'` : 'a string'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** An error about the options of a runner. */
export function invalidRunner(what: string, wayOut: string): BobbinError {
  const message = `\`TurnRunner\` ${what}. ${wayOut}.`
  return new BobbinError('E_INVALID_RUNNER', message, { rule: what })
}
