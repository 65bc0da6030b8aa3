import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../core/error/error.ts'
import { Media } from '../spool/media.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { Identity } from '../text/identity.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { Memory } from './memory.ts'
import { Message } from './message.ts'
import { Retrievable } from './retrievable.ts'
import { Thought } from './thought.ts'

const AT = Date.UTC(2026, 0, 2)

const picture = () =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: 'chart.png',
    trustTier: 'first-party',
    modalityHazard: 'inert',
    reader: bytesMedia(new Uint8Array([1, 2, 3])),
  })

/** Runs `make` and gives the code, path and message of its refusal. */
function refusal(make: () => unknown) {
  try {
    make()
  } catch (error) {
    if (isBobbinError(error)) return { code: error.code, data: error.data, message: error.message }
    throw error
  }
  throw new Error('the value was accepted')
}

describe('Message', () => {
  it('takes its identity from its role unless it is given one', () => {
    const message = new Message({ id: 'm1', role: 'user', content: 'hello', createdAt: AT })
    expect(message.identity).toEqual(new Identity({ identifier: 'user', representation: 'user' }))
    expect(message.content).toEqual(new Tokenizable('hello'))
    expect(message.updatedAt.toMillis()).toBe(AT)
    const named = new Message({
      id: 'm2',
      role: 'user',
      content: 'hello',
      identity: { identifier: 42, representation: 'Ada' },
      createdAt: AT,
    })
    expect(named.identity.identifier).toBe(42)
    expect(String(named.identity.representation)).toBe('Ada')
  })

  it.each(['user', 'assistant'] as const)(
    'shares nothing with others of the role %s that changes',
    (role) => {
      const make = () => new Message({ id: 'm', role, content: 'x', createdAt: AT })
      const { identity, attachments } = make()
      expect(identity).toEqual(new Identity({ identifier: role, representation: role }))
      for (const shared of [identity, identity.representation, attachments]) {
        expect(Object.isFrozen(shared)).toBe(true)
      }
    },
  )

  it('holds its attachments beside its text, in a list of its own', () => {
    const given = [picture()]
    const message = new Message({
      id: 'm',
      role: 'user',
      content: 'x',
      attachments: given,
      createdAt: AT,
    })
    const [media] = given.splice(0)
    expect(message.attachments).toEqual([media])
    expect(Object.isFrozen(message.attachments)).toBe(true)
    const bare: Media[] = []
    const none = new Message({
      id: 'm',
      role: 'user',
      content: 'x',
      attachments: bare,
      createdAt: AT,
    })
    bare.push(media as Media)
    expect(none.attachments).toEqual([])
  })

  it.each(['system', 'tool', 'developer', ''])('refuses the role %s', (role) => {
    const make = () => new Message({ id: 'm', role: role as 'user', content: 'x', createdAt: AT })
    expect(refusal(make)).toMatchObject({
      code: 'E_INVALID_INITIAL_MESSAGE_VALUE',
      data: { path: 'role', rule: 'must be one of user, assistant' },
    })
  })

  it('needs content or an attachment', () => {
    const make = () => new Message({ id: 'm', role: 'user', createdAt: AT })
    expect(refusal(make).message).toBe('`Message` must have content or at least one attachment.')
    const media = picture()
    const message = new Message({ id: 'm', role: 'user', attachments: [media], createdAt: AT })
    expect(message.attachments).toEqual([media])
    expect(Object.isFrozen(message.attachments)).toBe(true)
  })

  it('names the field of an attachment that is wrong', () => {
    const { mimeType: _, ...media } = picture()
    const make = () =>
      new Message({ id: 'm', role: 'user', attachments: [media as never], createdAt: AT })
    expect(refusal(make)).toMatchObject({
      code: 'E_INVALID_INITIAL_MESSAGE_VALUE',
      data: { path: 'attachments.0.mimeType', rule: 'is required and missing' },
    })
  })

  it('leaves out of its JSON what is undefined', () => {
    const message = new Message({
      id: 'm',
      role: 'user',
      content: 'x',
      response: undefined,
      createdAt: AT,
    })
    expect(Object.values(message.toJSON())).not.toContain(undefined)
    expect(message.toJSON()).not.toHaveProperty('response')
  })

  it('survives JSON with its attachments', async () => {
    const spool = memorySpool()
    const media = await picture().spooled(spool)
    const message = new Message({ id: 'm', role: 'assistant', attachments: [media], createdAt: AT })
    const restored = Message.fromJSON(JSON.parse(JSON.stringify(message)), { spool })
    expect(restored.digest).toBe(message.digest)
    expect(restored.attachments[0]?.digest).toBe(media.digest)
  })
})

describe('updatedAt', () => {
  const common = { id: 'x', content: 'text', createdAt: AT }
  const makers = {
    Message: (extra: object) => new Message({ ...common, role: 'user', ...extra }),
    Thought: (extra: object) => new Thought({ ...common, ...extra }),
    Memory: (extra: object) => new Memory({ ...common, ...extra }),
    Retrievable: (extra: object) => new Retrievable({ ...common, ...extra }),
  }

  it.each(Object.entries(makers))('of a %s is when it was made unless given', (_, make) => {
    expect(make({}).updatedAt.toMillis()).toBe(AT)
    expect(make({ updatedAt: AT + 5 }).updatedAt.toMillis()).toBe(AT + 5)
  })
})

describe('fromJSON', () => {
  const classes = { Message, Thought, Memory, Retrievable }

  it.each(Object.keys(classes) as (keyof typeof classes)[])(
    'refuses JSON that is no stored %s with its own error',
    (name) => {
      for (const json of [null, undefined, 5, 'text', [], { attachments: 5 }]) {
        const error = refusal(() => classes[name].fromJSON(json))
        expect(error.code).toBe(`E_INVALID_INITIAL_${name.toUpperCase()}_VALUE`)
      }
    },
  )
})

describe('Thought', () => {
  it('carries opaque provider data that cannot be changed', () => {
    const data = { signature: 'abc', nested: { list: [1] } }
    const thought = new Thought({
      id: 't1',
      content: '',
      providerData: { api: 'anthropic-messages', modelFamily: 'claude', data },
      createdAt: AT,
    })
    data.nested.list.push(2)
    expect(thought.providerData).toEqual({
      api: 'anthropic-messages',
      modelFamily: 'claude',
      data: { signature: 'abc', nested: { list: [1] } },
    })
    expect(Object.isFrozen(thought.providerData)).toBe(true)
    expect(Thought.fromJSON(JSON.parse(JSON.stringify(thought)))).toEqual(thought)
  })

  it('belongs to the assistant unless it is given an identity', () => {
    const thought = new Thought({ id: 't', content: 'hm', createdAt: AT })
    expect(thought.identity.identifier).toBe('assistant')
  })
})

describe('Memory and Retrievable', () => {
  it('are the least trusted unless said otherwise', () => {
    const common = { id: 'x', content: 'text', createdAt: AT }
    expect(new Memory(common).trustTier).toBe('third-party')
    expect(new Retrievable(common).trustTier).toBe('third-party')
    expect(new Memory({ ...common, trustTier: 'developer' }).trustTier).toBe('developer')
  })

  it('refuse an unknown tier and a score out of range', () => {
    const common = { id: 'x', content: 'text', createdAt: AT }
    expect(
      refusal(() => new Memory({ ...common, trustTier: 'mine' as 'developer' })),
    ).toMatchObject({
      code: 'E_INVALID_INITIAL_MEMORY_VALUE',
      data: { path: 'trustTier' },
    })
    for (const confidence of [1.5, -0.1]) {
      expect(refusal(() => new Memory({ ...common, confidence })).data).toMatchObject({
        path: 'confidence',
        rule: 'must be a number from 0 to 1',
      })
    }
    expect(new Memory(common)).toMatchObject({ confidence: 1, importance: 0.5 })
    expect(new Memory({ ...common, confidence: 0, importance: 1 })).toMatchObject({
      confidence: 0,
      importance: 1,
    })
    for (const score of [Number.NaN, 1.5, -0.1]) {
      expect(refusal(() => new Retrievable({ ...common, score }))).toMatchObject({
        code: 'E_INVALID_INITIAL_RETRIEVABLE_VALUE',
        data: { path: 'score' },
      })
    }
  })

  it('survive JSON', () => {
    const memory = new Memory({ id: 'x', content: 'text', importance: 0.9, createdAt: AT })
    expect(Memory.fromJSON(JSON.parse(JSON.stringify(memory)))).toEqual(memory)
    const found = new Retrievable({
      id: 'x',
      content: 'text',
      source: 'wiki',
      score: 0.2,
      createdAt: AT,
    })
    expect(Retrievable.fromJSON(JSON.parse(JSON.stringify(found)))).toEqual(found)
    expect(Retrievable.fromJSON(JSON.parse(JSON.stringify(found))).digest).toBe(found.digest)
  })
})

describe('the guards of the primitives', () => {
  it('know their own kind only', () => {
    const common = { id: 'x', content: 'text', createdAt: AT }
    const values = {
      Tokenizable: new Tokenizable('t'),
      Identity: new Identity({ identifier: 'a', representation: 'b' }),
      Message: new Message({ ...common, role: 'user' }),
      Thought: new Thought(common),
      Memory: new Memory(common),
      Retrievable: new Retrievable(common),
      Media: picture(),
    }
    const guards: Record<keyof typeof values, (value: unknown) => boolean> = {
      Tokenizable: Tokenizable.isTokenizable,
      Identity: Identity.isIdentity,
      Message: Message.isMessage,
      Thought: Thought.isThought,
      Memory: Memory.isMemory,
      Retrievable: Retrievable.isRetrievable,
      Media: Media.isMedia,
    }
    for (const [kind, guard] of Object.entries(guards)) {
      const accepted = Object.entries(values).filter(([, value]) => guard(value))
      expect(accepted.map(([name]) => name)).toEqual([kind])
    }
  })

  it('go with values that are frozen', () => {
    const common = { id: 'x', content: 'text', createdAt: AT }
    for (const value of [
      new Memory(common),
      new Thought(common),
      picture(),
      new Tokenizable('x'),
    ]) {
      expect(Object.isFrozen(value)).toBe(true)
    }
  })
})
