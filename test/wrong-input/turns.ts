import { Tool } from '../../src/tools/tool.ts'
import type { Executor } from '../../src/turn/executor/executor.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type Kind, type WayIn, way } from './values.ts'

const tool = new Tool({
  name: 'a',
  description: 'a',
  inputSchema: { type: 'object' },
  handler: () => 'x',
})
const executor: Executor = async () => ({ answer: 'x' })
const runner = () => new TurnRunner({ executor, tools: [tool] })

/** A runner with one conversation, `c`. */
async function begun(): Promise<TurnRunner> {
  const one = runner()
  await one.run({ conversation: 'c', message: 'x' })
  return one
}

/** Goes to the end of a stream, where what cannot begin is thrown. */
async function streamed(input: never): Promise<unknown> {
  const stream = runner().stream(input)
  for await (const _ of stream);
  return stream.outcome
}

const INPUT: Readonly<Record<string, readonly Kind[]>> = {
  conversation: ['undefined', 'text'],
  message: ['text'],
  attachments: ['undefined', 'list'],
  turnId: ['undefined'],
  whenBusy: ['undefined'],
  output: ['undefined'],
  signal: ['undefined', 'null'],
}
const AGAIN: typeof INPUT = {
  conversation: [],
  output: ['undefined'],
  signal: ['undefined', 'null'],
}

const members = (
  name: string,
  takes: typeof INPUT,
  call: (input: never) => unknown,
  right: object,
) =>
  Object.entries(takes).map(([member, kinds]) => {
    const [outer = '', inner] = member.split('.')
    const given = (value: unknown) => ({
      [outer]: inner === undefined ? value : { [inner]: value },
    })
    return way(
      `${name}({ ${member} })`,
      (value) => call({ ...right, ...given(value) } as never),
      ...kinds,
    )
  })

const OPTIONS: typeof INPUT = {
  executor: ['function'],
  tools: ['undefined', 'list', 'map', 'function'],
  instructions: ['undefined', 'text', 'empty text', 'function'],
  agents: ['undefined'],
  store: ['undefined'],
  spool: ['undefined'],
  approve: ['undefined', 'function'],
  mayDecide: ['undefined', 'function'],
  subject: ['undefined', 'function'],
  middleware: ['undefined', 'list'],
  limits: ['undefined', 'object'],
  'limits.calls': ['undefined', 'number'],
  concurrency: ['undefined', 'number'],
  timeoutMs: ['undefined', 'number'],
  budget: ['undefined'],
  compact: ['undefined'],
  policy: ['undefined'],
  conversationSecret: ['undefined'],
  secrets: ['undefined', 'function'],
  repeat: ['undefined', 'object'],
  retries: ['undefined', 'number'],
  leaseMs: ['undefined'],
  prices: ['undefined', 'object'],
  capture: ['undefined'],
  'limits.tokens': ['undefined', 'number'],
  artifacts: ['undefined', 'list'],
  testing: ['undefined', 'object'],
  'testing.clock': ['undefined'],
}

/** Every way into a runner. */
export const RUNNER: readonly WayIn[] = [
  way('new TurnRunner', (options) => new TurnRunner(options)),
  ...members('new TurnRunner', OPTIONS, (options) => new TurnRunner(options), { executor }),
  way('runner.run', (input) => runner().run(input)),
  way('runner.stream', streamed),
  way('runner.resume', (input) => runner().resume(input)),
  way('runner.recover', (input) => runner().recover(input)),
  way('runner.regenerate', (input) => runner().regenerate(input)),
  way('runner.follow', (input) => runner().follow(input).next()),
  way('runner.stop', (input) => runner().stop(input)),
  way('runner.on', (name) => runner().on(name, () => {})),
  way('runner.on(name, listener)', (to) => runner().on('message', to), 'function'),
  way('runner.observe', (name) => runner().observe(name, () => {})),
  ...members('runner.run', INPUT, (input) => runner().run(input), { message: 'x' }),
  ...members('runner.stream', INPUT, streamed, { message: 'x' }),
  ...members(
    'runner.resume',
    { ...AGAIN, decisions: ['list'] },
    async (input) => (await begun()).resume(input),
    { conversation: 'c', decisions: [] },
  ),
  ...members(
    'runner.recover',
    { ...AGAIN, force: ['undefined', 'true'] },
    async (input) => (await begun()).recover(input),
    { conversation: 'c' },
  ),
]
