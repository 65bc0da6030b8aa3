import { describe, expect, it } from 'vitest'
import type { SentRequest } from '../../model/model.ts'
import { promptPieces } from '../../model/prompt-pieces.ts'
import type { ModelCall } from '../../store/entry.ts'
import { PromptPrefix } from './prompt-prefix.ts'

const PLACE = { member: 'messages', tools: 'tools', instructions: 'system' }
const SOURCE = { tools: [], instructions: 'Be brief.', isShed: false }

function sent(body: object): SentRequest {
  const prompt = promptPieces(body, PLACE)
  const name = { api: 'a', provider: 'p', model: 'm' }
  return { ...name, adapter: 1, settings: {}, ...(prompt && { prompt }) }
}

const user = (...texts: readonly string[]) => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
})

/** What is told of the last of these requests, when each is compared with the one before. */
function brokenAt(...bodies: readonly object[]) {
  const prefix = new PromptPrefix()
  return bodies.map((body) => prefix.next(sent(body), SOURCE)).at(-1)?.broken
}

describe('PromptPrefix', () => {
  it('lets messages be added, and the last one grow', () => {
    const first = { system: 's', messages: [{ role: 'user', content: 'a' }] }
    expect(brokenAt(first, { system: 's', messages: [user('a', 'b'), user('c')] })).toBeUndefined()
  })

  it('does not count cache markers', () => {
    const marked = { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }
    const [first, second] = [[marked], [{ type: 'text', text: 'a' }, { cachePoint: {} }]]
    const messages = [first, second].map((content) => [{ role: 'user', content }])
    expect(brokenAt({ messages: messages[0] }, { messages: messages[1] })).toBeUndefined()
    expect(brokenAt({ system: [marked] }, { system: 'a' })).toBeUndefined()
  })

  it('names what changed first', () => {
    const first = { tools: [1], system: 's', messages: [user('a'), user('b')] }
    const at = (body: object) => brokenAt(first, { ...first, ...body })?.at
    expect(at({ tools: [2], system: 't' })).toBe('tools')
    expect(at({ system: 't', messages: [] })).toBe('system')
    expect(at({ messages: [user('a')] })).toBe('messages[0]')
    expect(at({ messages: [user('a', 'b')] })).toBe('messages[0]')
  })

  it('names the message behind what an earlier request shows to be unchanged', () => {
    const grown = [user('a'), user('b'), user('c'), user('d')]
    const bodies = grown.map((_, at) => ({ messages: grown.slice(0, at + 1) }))
    expect(brokenAt(...bodies, { messages: [...grown.slice(0, 2), user('x'), user('d')] })).toEqual(
      {
        at: 'messages[2]',
        causes: [],
      },
    )
  })

  it('compares with a request that only the log has', () => {
    const stored = new PromptPrefix().next(sent({ messages: [user('a')] }), SOURCE)
    const modelCall: ModelCall = {
      id: '1',
      iteration: 1,
      digests: {},
      ...(stored && { prefix: stored }),
    }
    const prefix = new PromptPrefix()
    prefix.apply([{ kind: 'model-call', modelCall }])
    expect(prefix.next(sent({ messages: [user('b')] }), SOURCE)?.broken?.at).toBe('messages[0]')
  })

  it('compares with the last request that did not fail, and keeps the causes of one that did', () => {
    const prefix = new PromptPrefix()
    const ask = (text: string, error?: ModelCall['error']) => {
      const told = prefix.next(sent({ messages: [user(text)] }), SOURCE)
      const modelCall = { id: '1', iteration: 1, digests: {}, ...(error && { error }) }
      prefix.apply([
        { kind: 'model-call', modelCall: { ...modelCall, ...(told && { prefix: told }) } },
      ])
      return told?.broken?.causes
    }
    ask('a')
    expect(ask('b', { message: 'no' })).toEqual([])
    expect(ask('a')).toBeUndefined()
    prefix.apply([{ kind: 'rewind', rewind: { id: 'r', toTurnId: 't', message: 'm' } }])
    expect(ask('b', { message: 'no' })).toEqual(['rewind'])
    expect(ask('b')).toEqual(['rewind'])
    expect(ask('b')).toBeUndefined()
  })

  it('forgets a response in flight that was taken back', () => {
    const prefix = new PromptPrefix()
    const modelCall: ModelCall = { id: '1', iteration: 1, digests: {}, continuation: 'resp_1' }
    prefix.apply([{ kind: 'model-call', modelCall }])
    expect(prefix.inFlight).toBe(modelCall)
    prefix.apply([{ kind: 'rewind', rewind: { id: 'r', toTurnId: 't', message: 'm' } }])
    expect(prefix.inFlight).toBeUndefined()
  })

  it('tells nothing of a protocol that does not say where its history is', () => {
    const { prompt: _, ...unknown } = sent({})
    expect(new PromptPrefix().next(unknown, SOURCE)).toBeUndefined()
  })
})
