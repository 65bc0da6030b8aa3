import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { subAgent } from '../nested/sub-agent.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { TurnRunnerOptions } from './runner-options.ts'

const add = sampleTool('add', () => '3')
const executor = async () => ({ answer: 'Yes.' })

/** The error that a caller without types gets. */
const refusalOf = (options: unknown): unknown => {
  try {
    return new TurnRunner(options as TurnRunnerOptions)
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    return `${code}: ${message}`
  }
}

describe('the options of a runner', () => {
  it.each([undefined, null, 'gpt-5', {}])('need a model or an executor: %j', (options) => {
    expect(refusalOf(options)).toBe(
      'E_INVALID_RUNNER: `TurnRunner` needs a `model` or an `executor`. Pass one of them, in an object of options.',
    )
  })

  it('have one of them, since only one can decide', () => {
    expect(refusalOf({ executor, model: scriptedModel([]) })).toMatch(/both a `model` and an/)
  })

  it.each([
    [
      'model',
      'gpt-5',
      /^E_INVALID_RUNNER: `model` of `TurnRunner` must be a model, such as `openai/,
    ],
    ['model', {}, /; it is an object\.$/],
    ['executor', 'rules', /must be a function that returns `{ calls }` or `{ answer }`/],
  ])('refuse %s: %j', (name, value, message) => {
    expect(refusalOf({ [name]: value })).toMatch(message)
  })

  it.each([
    ['tools', { add: add }, /`tools` of `TurnRunner` must be a list.*; it is an object\.$/],
    ['tools', add, /must be a list/],
    ['tools', null, /; it is null\.$/],
    ['tools', 'add', /must be a list/],
    ['instructions', 5, /`instructions`.* it is 5\.$/],
    ['store', 'agent.db', /`store`.*sqliteStore.*; it is 'agent\.db'\.$/],
    ['store', Promise.resolve(memoryStore()), /must be a store/],
    ['spool', 'folder', /fileSpool/],
    ['approve', true, /`approve`.*`async \(\) => true` approves everything.*; it is true\.$/],
    ['middleware', () => {}, /must be a list of objects/],
    ['middleware', [() => {}], /must be a list of objects/],
    ['middleware', [{ call: true }], /must be a list of objects/],
    ['middleware', [{ onCall: () => {} }], /functions named `turn`, `dispatch` or `call`/],
    [
      'limits',
      5,
      /`limits` .* must be an object with `iterations`, `calls`, `timeMs`, `tokens`, `cost`; it is 5\.$/,
    ],
    ['limits', [], /`limits` .* must be an object .*; it is a list\.$/],
    ['limits', { iterations: '5' }, /`limits\.iterations` .* of at least 1; it is '5'\.$/],
    ['limits', { calls: 0 }, /at least 1/],
    ['limits', { timeMs: Number.NaN }, /`limits\.timeMs` .*; it is NaN\.$/],
    ['limits', { spend: 5 }, /`limits\.spend` is not an option/],
    ['limits', { cost: -1 }, /`limits\.cost` .* of at least 0; it is -1\.$/],
    ['prices', { a: { input: 1 } }, /must be a table such as/],
    ['prices', { a: { input: 1, output: -1 } }, /must be a table such as/],
    ['capture', 'nothing', /must be one of parts, digests; it is 'nothing'\.$/],
    ['concurrency', -1, /at least 1/],
    ['retries', -1, /`retries` of `TurnRunner` must be a number of at least 0; it is -1\.$/],
    ['repeat', false, /`repeat`.* must be an object with `hint`, `refuse`, `stop`; it is false\.$/],
    ['repeat', { hint: 'often' }, /`repeat\.hint`.*; it is 'often'\.$/],
    ['budget', 1000, /`budget`.* must be `{ maxTokens }`.*; it is 1000\.$/],
    ['budget', {}, /`budget\.maxTokens` is a number of at least 1/],
    ['policy', 'Strict', /must be one of default, strict, open; it is 'Strict'\.$/],
    ['secrets', { TOKEN: 'k' }, /must be a function from a name/],
    ['artifacts', [{}], /list of classes/],
    ['testing', { clock: () => 0 }, /`now\(\)`/],
    ['testing', { ids: 'a' }, /function that makes ids/],
    ['testing', { sleep: 5 }, /function of milliseconds/],
  ])('refuse %s: %j', (name, value, message) => {
    expect(refusalOf({ executor, [name]: value })).toMatch(message)
  })

  it.each(['x'.repeat(32), 'hush', new Uint8Array(31)])(
    'refuse a secret without showing it: %j',
    (conversationSecret) => {
      expect(refusalOf({ executor, conversationSecret })).toBe(
        'E_INVALID_RUNNER: `conversationSecret` of `TurnRunner` must be a Uint8Array of at least 32 random bytes.',
      )
    },
  )

  it.each([
    [
      'polcy',
      /^E_INVALID_RUNNER: `polcy` is not an option of `TurnRunner`\. Use `policy`, or remove it\./,
    ],
    ['iterations', /Use `limits\.iterations`/],
    ['Concurrency', /Use `concurrency`/],
    [
      'toString',
      /^E_INVALID_RUNNER: `toString` is not an option of `TurnRunner`\. The options are `model`, .*`limits\.calls`/,
    ],
  ])('refuse the unknown %s, and name what was meant', (name, message) => {
    expect(refusalOf({ executor, [name]: 5 })).toMatch(message)
  })

  it.each([
    ['maxIterations', 'limits.iterations'],
    ['maxCalls', 'limits.calls'],
    ['maxTimeMs', 'limits.timeMs'],
    ['secret', 'conversationSecret'],
    ['clock', 'testing.clock'],
    ['ids', 'testing.ids'],
    ['newId', 'testing.ids'],
    ['sleep', 'testing.sleep'],
  ])('say where `%s` went', (name, now) => {
    expect(refusalOf({ executor, [name]: 5 })).toBe(
      `E_INVALID_RUNNER: \`${name}\` is now \`${now}\`: rename it in the options of \`TurnRunner\`.`,
    )
  })

  it('say where a name went that stands in the right group', () => {
    expect(refusalOf({ executor, limits: { maxCalls: 5 } })).toMatch(
      /`limits\.maxCalls` is now `limits\.calls`/,
    )
  })

  it('are taken where the types take them', () => {
    const tools = new Set([add])
    const limits = { iterations: Number.POSITIVE_INFINITY, calls: undefined }
    const repeat = { stop: Number.POSITIVE_INFINITY }
    const conversationSecret = Buffer.alloc(32, 1)
    const options = {
      executor,
      tools,
      limits,
      retries: 0,
      repeat,
      conversationSecret,
      middleware: [{}],
      store: undefined,
      testing: { clock: Date },
    }
    expect(refusalOf(options)).toBeInstanceOf(TurnRunner)
  })

  it('of a nested agent are checked when its tool is made', () => {
    const agent = { executor, policy: 'careful' } as unknown as TurnRunnerOptions
    expect(() => subAgent({ name: 'helper', description: 'Helps.', agent })).toThrow(
      /one of default, strict, open/,
    )
  })
})
