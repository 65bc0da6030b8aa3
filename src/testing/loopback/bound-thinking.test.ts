import { describe, expect, it } from 'vitest'
import { boundThinking } from './bound-thinking.ts'

const thought = (signature: string) => ({ type: 'thinking', thinking: 'Hm.', signature })
const said = (text: string) => ({ type: 'text', text })
const user = (content: unknown) => ({ role: 'user', content })
const model = (...content: object[]) => ({ role: 'assistant', content })
const tools = [{ name: 'look', input_schema: { type: 'object' } }]
const fable = { model: 'claude-fable-5-1', system: 'Be good.', tools }

/** A server that has answered three requests, each with one thought and a text. */
function answered() {
  const memory = boundThinking()
  const messages: object[] = [user('1')]
  for (const name of ['a', 'b', 'c']) {
    const body = { ...fable, messages: [...messages] }
    const content = [thought(name), said(name)]
    const request = { path: '', headers: {}, body, isStream: false, violations: [] }
    memory.answered(request, { body: { content } })
    messages.push(model(...content), user(`after ${name}`))
  }
  const problems = (changed: object, headers = {}) =>
    memory.check({ body: { ...fable, messages, ...changed }, headers }).map(({ path }) => path)
  return { messages, problems }
}

describe('boundThinking', () => {
  it('takes thinking behind what it was given out under, in any form that means the same', () => {
    const { messages, problems } = answered()
    expect(problems({})).toEqual([])
    const system = [{ type: 'text', text: 'Be good.', cache_control: { type: 'ephemeral' } }]
    const first = user([{ ...said('1'), cache_control: { type: 'ephemeral' } }])
    expect(problems({ system, messages: [first, ...messages.slice(1)] })).toEqual([])
    const later = [{ name: 'later', defer_loading: true }]
    expect(problems({ tools: [...later, ...tools] })).toEqual([])
    expect(problems({ max_tokens: 9, tool_choice: { type: 'any' } })).toEqual([])
  })

  it('refuses thinking behind another system prompt, tool or message', () => {
    const { messages, problems } = answered()
    const all = ['messages.1.content.0', 'messages.3.content.0', 'messages.5.content.0']
    expect(problems({ system: 'Be bad.' })).toEqual(all)
    expect(problems({ tools: [] })).toEqual(all)
    expect(problems({ messages: [user('one'), ...messages.slice(1)] })).toEqual(all)
    expect(problems({ messages: messages.with(2, user('other')) })).toEqual(all.slice(1))
    expect(problems({ messages: messages.with(5, model(thought('forged'), said('c'))) })).toEqual([
      'messages.5.content.0',
    ])
  })

  it('takes a request without its oldest, its newest or all thinking, and refuses a gap', () => {
    const { messages, problems } = answered()
    const without = (...names: string[]) =>
      names.reduce(
        (list, name) => list.with(1 + 2 * 'abc'.indexOf(name), model(said(name))),
        messages,
      )
    for (const names of [['a'], ['a', 'b'], ['c'], ['b', 'c'], ['a', 'b', 'c']]) {
      expect(problems({ messages: without(...names) })).toEqual([])
    }
    expect(problems({ messages: without('b') })).toEqual(['messages.5.content.0'])
  })

  it('does not check for models that do not, or where the request asks to drop blocks', () => {
    const { problems } = answered()
    const changed = { system: 'Be bad.' }
    expect(problems({ ...changed, model: 'claude-opus-4-6' })).toEqual([])
    expect(problems({ ...changed, model: 'claude-mythos-5-1' })).toEqual([])
    const thinking = { block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    const beta = { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' }
    expect(problems({ ...changed, thinking }, beta)).toEqual([])
    expect(problems({ ...changed, thinking })).toHaveLength(3)
  })

  it('refuses a part of the latest thinking', () => {
    const memory = boundThinking()
    const body = { ...fable, messages: [user('1')] }
    const content = [thought('a'), thought('b'), said('x')]
    const request = { path: '', headers: {}, body, isStream: false, violations: [] }
    memory.answered(request, { body: { content } })
    const check = (...kept: object[]) =>
      memory.check({
        body: { ...fable, messages: [user('1'), model(...kept), user('2')] },
        headers: {},
      })
    expect(check(...content)).toEqual([])
    expect(check(said('x'))).toEqual([])
    expect(check(...content.slice(1))).toMatchObject([
      { prevents: expect.stringContaining('cannot be modified') },
    ])
  })
})
