import { describe, expect, it } from 'vitest'
import type { CallItem, CallResult } from '../records/history-item.ts'
import { withResult } from './settled-item.ts'

const wire = { provider: 'p', api: 'a', type: 'function_call', origin: 'natural' } as const
const bare: CallItem = { type: 'call', id: 'c', tool: 't', args: {}, wire, executedBy: 'runner' }
const result: CallResult = { isError: false, parts: [{ type: 'text', text: 'done' }] }

describe('withResult', () => {
  it.each<[string, Partial<CallItem>]>([
    ['nothing more', {}],
    ['the response it came with', { response: 'turn/1' }],
    ['the text received', { rawArgs: '{', fault: { path: '', rule: 'not-json' } }],
    ['a provider’s state', { response: 'turn/1', providerData: { api: 'a', data: 1 } }],
    ['only a result', { resultOnly: true }],
  ])('keeps all of an item with %s, and adds nothing but the result', (_, more) => {
    expect(withResult({ ...bare, ...more }, result)).toStrictEqual({ ...bare, ...more, result })
  })
})
