import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import { memoryStore } from '../store/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { TurnRunnerOptions } from './runner-options.ts'
import { subAgent } from './sub-agent.ts'
import { TurnRunner } from './turn-runner.ts'

const add = sampleTool('add', () => '3')
const executor = async () => ({ answer: 'Yes.' })

/** What a caller without types is told. */
const refusalOf = (options: unknown): unknown => {
  try {
    return new TurnRunner(options as TurnRunnerOptions)
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    return `${code}: ${message}`
  }
}

describe('checkOptions', () => {
  it.each([undefined, null, 'gpt-5', {}])('asks for a model or an executor in %j', (options) => {
    expect(refusalOf(options)).toBe(
      'E_INVALID_RUNNER: `TurnRunner` needs a `model` or an `executor`. Pass one of them, in an object of options.',
    )
  })

  it('refuses a model beside an executor, since only one can decide', () => {
    expect(refusalOf({ executor, model: scriptedModel([]) })).toMatch(/both a `model` and an/)
  })

  it.each([
    ['model', 'gpt-5', /`model: 'gpt-5'`\. It must be a model, such as `openaiResponses/],
    ['model', {}, /`model: an object`/],
    ['executor', 'rules', /must be a function that returns `{ calls }` or `{ answer }`/],
  ])('refuses %s: %j', (name, value, message) => {
    expect(refusalOf({ [name]: value })).toMatch(message)
  })

  it.each([
    ['tools', { add: add }, /`tools: an object`\. It must be a list/],
    ['tools', add, /must be a list/],
    ['tools', null, /`tools: null`/],
    ['tools', 'add', /must be a list/],
    ['instructions', () => 'Be brief.', /`instructions: a function`\. It must be a string/],
    ['store', 'agent.db', /`store: 'agent\.db'`.*sqliteStore/],
    ['store', Promise.resolve(memoryStore()), /must be a store/],
    ['spool', 'folder', /fileSpool/],
    ['approve', true, /`approve: true`.*`async \(\) => true` approves everything/],
    ['middleware', () => {}, /must be a list of objects/],
    ['middleware', [() => {}], /must be a list of objects/],
    ['middleware', [{ call: true }], /must be a list of objects/],
    ['maxIterations', '5', /`maxIterations: '5'`\. It must be a number of at least 1/],
    ['maxCalls', 0, /at least 1/],
    ['maxTimeMs', Number.NaN, /`maxTimeMs: NaN`/],
    ['concurrency', -1, /at least 1/],
    ['retries', -1, /`retries: -1`\. It must be a number of at least 0/],
    ['repeat', false, /`repeat: false`.*`Infinity` turns one off/],
    ['repeat', { hint: 'often' }, /`repeat\.hint: 'often'`/],
    ['budget', 1000, /`budget: 1000`.*`{ maxTokens }`/],
    ['budget', {}, /`budget\.maxTokens: NaN`/],
    ['policy', 'Strict', /`policy: 'Strict'`\. It must be one of default, strict, open/],
    [
      'secret',
      'x'.repeat(32),
      /a `secret` that is none\. It must be a Uint8Array of random bytes, at least 32/,
    ],
    ['secret', new Uint8Array(31), /at least 32 bytes long/],
    ['secrets', { TOKEN: 'k' }, /must be a function from a name/],
    ['artifacts', [{}], /list of classes/],
    ['clock', () => 0, /`now\(\)`/],
    ['ids', 'a', /function that makes ids/],
    ['sleep', 5, /function of milliseconds/],
    ['maxIteration', 5, /knows no `maxIteration`\. Its options are model, .*maxIterations,/],
    ['toString', 5, /knows no `toString`/],
  ])('refuses %s: %j', (name, value, message) => {
    expect(refusalOf({ executor, [name]: value })).toMatch(message)
  })

  it('takes what the types take', () => {
    const tools = new Set([add])
    const limits = { maxIterations: Number.POSITIVE_INFINITY, retries: 0 }
    const repeat = { stop: Number.POSITIVE_INFINITY }
    const secret = Buffer.alloc(32, 1)
    const options = {
      executor,
      tools,
      ...limits,
      repeat,
      secret,
      middleware: [{}],
      store: undefined,
      clock: Date,
    }
    expect(refusalOf(options)).toBeInstanceOf(TurnRunner)
  })

  it('finds the options of a nested agent wrong when its tool is made', () => {
    const agent = { executor, policy: 'careful' } as unknown as TurnRunnerOptions
    expect(() => subAgent({ name: 'helper', description: 'Helps.', agent })).toThrow(
      /one of default, strict, open/,
    )
  })
})
