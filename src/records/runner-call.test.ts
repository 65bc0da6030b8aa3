import { Settings } from 'luxon'
import * as v from 'valibot'
import { afterEach, describe, expect, it } from 'vitest'
import { checksum } from '../core/checksum.ts'
import { isBobbinError } from '../core/error/error.ts'
import { normalizeArguments } from '../core/json/strict-json.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { type RawToolCall, ToolCall } from './tool-call.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)

const wire = () => ({
  provider: 'p',
  api: 'a',
  type: 'function_call',
  callId: 'c',
  origin: 'natural',
})

/** A call as a runner records it. */
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

  it('copies and freezes its wire', () => {
    const given = wire()
    const call = new ToolCall(usual({ wire: given }))
    given.callId = 'changed'
    expect(call.wire).toEqual(wire())
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
  ])('is refused for `%s`: %j', (path, overrides) => {
    expect(rule(usual(overrides))).toBe(path)
  })

  it('is refused for a tool that is not a string, even if its checksum is known', () => {
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
    ['extra', 1],
  ])('is refused for a wire whose %s is %j', (key, value) => {
    expect(rule(usual({ wire: { ...wire(), [key]: value } }))).toBe(`wire.${key}`)
  })

  it('refuses unknown fields when one of its own is hidden', () => {
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
})
