import fc from 'fast-check'

/** What a handler does, by its argument `how`. */
export const MANNERS = [
  'ok',
  'late',
  'throw',
  'reject',
  'json',
  'big',
  'bad',
  'clock',
  'halt',
] as const
export type Manner = (typeof MANNERS)[number]

export const TOOL_NAMES = [
  'look',
  'wide',
  'put',
  'pay',
  'odd',
  'ask',
  'alone',
  'poll',
  'traced',
  'slow',
  'slow_pay',
] as const

/** One call of a response, as a script asks for it. */
export interface AskedCall {
  readonly tool: (typeof TOOL_NAMES)[number] | 'agent' | 'nobody' | 'artifact_head'
  readonly n: number
  readonly how: Manner
  /** What providers reuse; none for one of the runner's own. */
  readonly id: string | undefined
  readonly args: 'good' | 'text' | 'broken' | 'unfit'
}

/** What the executor decides when it is asked. */
export type Step =
  | { readonly kind: 'calls'; readonly calls: readonly AskedCall[] }
  | { readonly kind: 'answer' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'throw' }
  | { readonly kind: 'transient' }
  | { readonly kind: 'garbage' }

/** What comes between, and when: so many steps after the beginning, so many microtasks behind the step. */
export interface Disturbance {
  readonly at: number
  readonly offset: number
  readonly what:
    | 'abort'
    | 'crash'
    | 'fault'
    | 'faults'
    | 'rival run'
    | 'rival force'
    | 'rival resume'
    | 'delete'
}

/** How somebody answers an open gate. */
export type Answer =
  | 'approve'
  | 'deny'
  | 'edit'
  | 'edit badly'
  | 'wrong digest'
  | 'forged'
  | 'twice'
  | 'stray key'
  | 'deny if open'
  | 'none'

interface Acting {
  readonly on: number
  readonly steps: readonly Step[]
  readonly disturbance: Disturbance | undefined
}

export type Command =
  | (Acting & { readonly do: 'run'; readonly breakAfter: number | undefined })
  | (Acting & { readonly do: 'resume'; readonly answers: readonly Answer[] })
  | (Acting & { readonly do: 'recover'; readonly force: boolean })
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'delete'; readonly on: number }
  | { readonly do: 'retool' }

export type Layer =
  | 'pass'
  | 'redact'
  | 'handle'
  | 'shortcut'
  | 'throw before'
  | 'throw behind'
  | 'twice'
  | 'foreign'
  | 'raise'
  | 'no wait'
  | 'swallow'
  | 'turn throws'
  | 'turn shortcut'
  | 'dispatch skips'
  | 'dispatch throws'

export type Approver = 'yes' | 'no' | 'edit' | 'throw' | 'garbage' | 'late'

export interface Settings {
  readonly policy: 'open' | 'default' | 'strict'
  readonly concurrency: number
  readonly limits: { readonly iterations: number; readonly calls: number }
  readonly repeat: { readonly hint: number; readonly refuse: number; readonly stop: number }
  readonly maxTokens: number | undefined
  readonly compactAt: number | undefined
  readonly approve: Approver | undefined
  readonly layers: readonly Layer[]
  readonly hasSecret: boolean
  readonly isWatched: boolean
}

/** Everything that happens in one case. */
export interface Program {
  readonly settings: Settings
  /** What sub-agents do, by the task they are given. */
  readonly scripts: readonly (readonly Step[])[]
  readonly commands: readonly Command[]
}

const some = <T>(...pairs: readonly [number, fc.Arbitrary<T>][]) =>
  fc.oneof(...pairs.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** Something, or nothing that many times as often. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>, times: number) =>
  some<T | undefined>([times, fc.constant(undefined)], [1, arbitrary])

const call: fc.Arbitrary<AskedCall> = fc.record({
  tool: some<AskedCall['tool']>(
    [20, fc.constantFrom('look', 'wide', 'put', 'pay', 'odd', 'ask', 'alone', 'poll', 'traced')],
    [1, fc.constantFrom('slow', 'slow_pay')],
    [5, fc.constant('agent')],
    [2, fc.constant('nobody')],
    [2, fc.constant('artifact_head')],
  ),
  n: fc.nat(2),
  how: some<Manner>([5, fc.constant('ok')], [6, fc.constantFrom(...MANNERS)]),
  id: fc.constantFrom(undefined, 'call_0', 'call_1', 'call_0~2'),
  args: some<AskedCall['args']>(
    [8, fc.constant('good')],
    [3, fc.constantFrom('text', 'broken', 'unfit')],
  ),
})

/** Models repeat themselves, also within one response. */
const anyCalls: fc.Arbitrary<readonly AskedCall[]> = some<readonly AskedCall[]>(
  [5, fc.array(call, { minLength: 1, maxLength: 5 })],
  [1, fc.tuple(call, fc.integer({ min: 2, max: 8 })).map(([one, n]) => Array(n).fill(one))],
)

const step: fc.Arbitrary<Step> = some<Step>(
  [
    12,
    fc.record({
      kind: fc.constant('calls'),
      calls: anyCalls,
    }),
  ],
  [1, fc.record({ kind: fc.constantFrom('answer', 'nothing', 'throw', 'transient', 'garbage') })],
)

const steps = fc.array(step, { maxLength: 4 })

const disturbance: fc.Arbitrary<Disturbance> = fc.record({
  at: fc.integer({ min: 1, max: 40 }),
  offset: fc.nat(6),
  what: fc.constantFrom(
    'abort',
    'abort',
    'crash',
    'crash',
    'crash',
    'fault',
    'fault',
    'faults',
    'rival run',
    'rival force',
    'rival resume',
    'delete',
  ),
})

const acting = {
  on: some([5, fc.constant(0)], [1, fc.constant(1)]),
  steps,
  disturbance: maybe(disturbance, 1),
}

const answer: fc.Arbitrary<Answer> = some<Answer>(
  [6, fc.constant('approve')],
  [2, fc.constantFrom('deny', 'edit', 'none')],
  [2, fc.constantFrom('edit badly', 'wrong digest', 'forged', 'twice', 'stray key')],
)

const command: fc.Arbitrary<Command> = some<Command>(
  [
    6,
    fc.record({
      do: fc.constant('run'),
      ...acting,
      breakAfter: maybe(fc.nat(8), 5),
    }),
  ],
  [
    4,
    fc.record({
      do: fc.constant('resume'),
      ...acting,
      answers: fc.array(answer, { maxLength: 4 }),
    }),
  ],
  [3, fc.record({ do: fc.constant('recover'), ...acting, force: fc.boolean() })],
  [1, fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, 31_000, 90_000_000) })],
  [1, fc.record({ do: fc.constant('delete'), on: fc.nat(1) })],
  [1, fc.record({ do: fc.constant('retool') })],
)

const settings: fc.Arbitrary<Settings> = fc.record({
  policy: fc.constantFrom('open', 'default', 'strict'),
  concurrency: fc.constantFrom(8, 1, 2),
  limits: fc.record({
    iterations: some([4, fc.constant(20)], [1, fc.integer({ min: 1, max: 3 })]),
    calls: some([4, fc.constant(200)], [1, fc.integer({ min: 1, max: 6 })]),
  }),
  repeat: fc.constantFrom(
    { hint: 3, refuse: 5, stop: 8 },
    { hint: 1, refuse: 2, stop: 3 },
    { hint: 2, refuse: 3, stop: 3 },
  ),
  maxTokens: maybe(fc.constantFrom(200, 1_500, 4_000), 5),
  compactAt: maybe(fc.constantFrom(50, 300, 900, 1_200), 2),
  approve: maybe<Approver>(fc.constantFrom('yes', 'no', 'edit', 'throw', 'garbage', 'late'), 2),
  layers: some<readonly Layer[]>(
    [3, fc.constant([])],
    [
      2,
      fc.array(
        fc.constantFrom<Layer>(
          'pass',
          'redact',
          'handle',
          'shortcut',
          'throw before',
          'throw behind',
          'twice',
          'foreign',
          'raise',
          'no wait',
          'swallow',
          'turn throws',
          'turn shortcut',
          'dispatch skips',
          'dispatch throws',
        ),
        { minLength: 1, maxLength: 3 },
      ),
    ],
  ),
  hasSecret: fc.boolean(),
  isWatched: some([3, fc.constant(true)], [1, fc.constant(false)]),
})

/** Any program of turns, and of what comes between them. */
export const anyProgram: fc.Arbitrary<Program> = fc.record({
  settings,
  scripts: fc.array(steps, { minLength: 3, maxLength: 3 }),
  commands: fc.array(command, { minLength: 1, maxLength: 6 }),
})

/** Turns that nothing comes between, as the reference model knows them. */
export const calmProgram: fc.Arbitrary<Program> = fc.record({
  settings: settings.map((given) => ({ ...given, layers: [], maxTokens: undefined })),
  scripts: fc.constant([[], [], []]),
  commands: fc.array(
    fc.record({
      do: fc.constant('run'),
      on: fc.constant(0),
      steps: fc.array(step.map(foreseeable), { maxLength: 6 }),
      disturbance: fc.constant(undefined),
      breakAfter: fc.constant(undefined),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})

/** Nothing that reads handles or aborts its own turn. */
function foreseeable(given: Step): Step {
  if (given.kind !== 'calls') return given
  const calls = given.calls.map(
    (each): AskedCall => ({
      ...each,
      tool: each.tool === 'artifact_head' ? 'look' : each.tool,
      how: each.how === 'halt' ? 'clock' : each.how,
    }),
  )
  return { ...given, calls }
}
