import fc from 'fast-check'
import { DateTime, Settings } from 'luxon'
import * as v from 'valibot'
import { afterEach, describe, expect, it } from 'vitest'
import { checksum } from '../core/checksum.ts'
import { isBobbinError } from '../core/error.ts'
import { CAREFULLY } from '../core/shortcut.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import { frozenWire } from '../core/wire-reference.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { type RawToolCall, ToolCall } from './tool-call.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)

const wire = () =>
  frozenWire({ provider: 'p', api: 'a', type: 'function_call', callId: 'c', origin: 'natural' })

/** A call as a runner records it: nothing has to be looked at twice. */
function usual(overrides: Record<string, unknown> = {}): RawToolCall {
  const args = normalizeArguments({ service: 'checkout' })
  const call = {
    id: 'call_1',
    tool: 'read_log',
    args,
    checksum: checksum('read_log', args),
    results: new Tokenizable('done'),
    isComplete: true,
    isError: false,
    settlement: 'ok',
    inline: true,
    fromArtifactTool: false,
    trust: 'third-party',
    createdAt: AT,
    completedAt: AT + 5,
    ...overrides,
  }
  return call as RawToolCall
}

function rule(raw: RawToolCall): string {
  try {
    new ToolCall(raw)
  } catch (error) {
    if (isBobbinError(error, 'E_INVALID_INITIAL_TOOL_CALL_VALUE')) return error.data.path
    throw error
  }
  return 'accepted'
}

/** The raw form of a call after all that a program could do to it. */
function changed(raw: object, changes: readonly (readonly [string, string, unknown])[]): object {
  let call = raw
  for (const [what, key, value] of changes) {
    if (what === 'drop') Reflect.deleteProperty(call, key)
    else if (what === 'inherit') call = Object.assign(Object.create({ [key]: value }), call)
    else {
      const how = what === 'get' ? { get: () => value } : { value, writable: true }
      Object.defineProperty(call, key, { ...how, enumerable: what !== 'hide', configurable: true })
    }
  }
  return call
}

afterEach(() => {
  Settings.throwOnInvalid = false
})

describe('a call as a runner records it', () => {
  it.each([
    ['without a wire', {}],
    ['with a wire', { wire: wire() }],
    ['failed', { settlement: 'timed-out', isError: true }],
    ['first-party and behind a handle', { trust: 'first-party', inline: false }],
  ])('equals the record that its JSON gives: %s', (_, overrides) => {
    const call = new ToolCall(usual(overrides))
    const read = ToolCall.fromJSON(JSON.parse(JSON.stringify(call)))
    expect(read.digest).toBe(call.digest)
    expect(read).toEqual(call)
    expect(Object.keys(read).sort()).toEqual(Object.keys(call).sort())
    expect(Object.values(call).filter((value) => value === undefined)).toEqual([])
    expect(Object.isFrozen(call)).toBe(true)
  })

  it('shares the frozen wire of its item and copies any other', () => {
    const own = wire()
    expect(new ToolCall(usual({ wire: own })).wire).toBe(own)
    const foreign = { ...own }
    const call = new ToolCall(usual({ wire: foreign }))
    foreign.callId = 'changed'
    expect(call.wire).toEqual(own)
    expect(Object.isFrozen(call.wire)).toBe(true)
  })

  it.each<[string, Record<string, unknown>]>([
    ['id', { id: '' }],
    ['id', { id: 1 }],
    ['tool', { tool: 7 }],
    ['checksum', { tool: 'other' }],
    ['checksum', { checksum: 'a'.repeat(64) }],
    ['checksum', { checksum: '' }],
    ['isComplete', { isComplete: false }],
    ['settlement', { settlement: 'lost' }],
    ['settlement', { settlement: 'failed' }],
    ['settlement', { isError: true }],
    ['inline', { inline: 'yes' }],
    ['fromArtifactTool', { fromArtifactTool: 0 }],
    ['trust', { trust: 'absolute' }],
    ['results', { results: undefined }],
    ['results', { results: { text: 'done' } }],
    ['createdAt', { createdAt: Number.NaN }],
    ['completedAt', { completedAt: 9e15 }],
    ['wire', { wire: 'p' }],
    ['wire', { wire: null }],
    ['wire', { wire: false }],
    ['args', { args: null }],
    ['wire.origin', { wire: { ...wire(), origin: 'guessed' } }],
    ['surprise', { surprise: 1 }],
  ])('is refused for `%s` as any other record is: %j', (path, overrides) => {
    expect(rule(usual(overrides))).toBe(path)
  })

  it('is refused for a tool that is no text, also where its checksum is known', () => {
    const args = normalizeArguments({ service: 'checkout' })
    const sum = checksum('7', args)
    expect(rule(usual({ tool: 7, args, checksum: sum }))).toBe('tool')
  })

  it.each<[string, unknown]>([
    ['provider', 5],
    ['api', null],
    ['type', {}],
    ['callId', null],
    ['itemId', null],
    ['outputId', 7],
    ['origin', 'guessed'],
  ])('is refused for a frozen wire whose %s is %j', (key, value) => {
    const odd = frozenWire({ ...wire(), [key]: value })
    expect(rule(usual({ wire: odd }))).toBe(`wire.${key}`)
  })

  it('makes no room for other fields by hiding one of its own', () => {
    const hidden = (overrides: Record<string, unknown>) =>
      Object.defineProperty(usual(overrides), 'id', { enumerable: false })
    expect(rule(hidden({ surprise: 1 }))).toBe('surprise')
    expect(new ToolCall(hidden({ executedBy: 'provider' })).executedBy).toBe('provider')
    expect(rule(hidden({ effectiveArgs: { a: 1 }, surprise: 1 }))).toBe('surprise')
  })

  it.each([{ args: null }, { createdAt: 9e15 }])(
    'is refused by the schema without a throw: %j',
    (overrides) => {
      Settings.throwOnInvalid = true
      expect(v.safeParse(ToolCall.schema, usual(overrides)).success).toBe(false)
    },
  )

  it('is what the schema makes of it when it looks at everything', () => {
    const odd = [undefined, null, '', 0, -1, 1.5, true, false, 'x', {}, [], 'ok', 'failed']
    const own = [wire(), { ...wire() }, frozenWire({ ...wire(), itemId: 'i' }), new Date(AT)]
    const value = fc.oneof(
      fc.constantFrom<unknown>(...odd, ...own, Number.NaN, 9e15, DateTime.utc(2026)),
      fc.constantFrom<unknown>('developer', 'provider', new Tokenizable('x'), [
        new Tokenizable(''),
      ]),
      fc.constantFrom<unknown>(normalizeArguments({}), normalizeArguments({ service: 'checkout' })),
    )
    const key = fc.constantFrom(
      ...Object.keys(usual()),
      ...['wire', 'rawArgs', 'effectiveArgs', 'executedBy', 'providerData', 'editOf', 'surprise'],
      ...['supersedes', 'redacted', 'updatedAt', 'toString', '__proto__'],
    )
    const change = fc.tuple(fc.constantFrom('set', 'drop', 'hide', 'inherit', 'get'), key, value)
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), (changes) => {
        const raw = changed(usual(), changes)
        const careful = ToolCall.schema['~run']({ value: raw }, CAREFULLY)
        const quick = v.safeParse(ToolCall.schema, raw)
        expect(quick.success).toBe(careful.issues === undefined)
        if (quick.success) expect(quick.output).toEqual(careful.value)
      }),
      { numRuns: 3_000 },
    )
  })

  it('may hold a wire that no record takes only until it is recorded', () => {
    const odd = frozenWire({ ...wire(), extra: 1 } as ReturnType<typeof wire>)
    expect(Object.isFrozen(odd)).toBe(true)
    expect(rule(usual({ wire: odd }))).toBe('wire.extra')
  })
})
