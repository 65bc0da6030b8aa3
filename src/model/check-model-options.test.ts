import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { anthropicMessages } from '../providers/anthropic/index.ts'
import { foundry } from '../providers/foundry/index.ts'
import { gemini } from '../providers/gemini/index.ts'
import { openaiChat, openaiResponses } from '../providers/openai/index.ts'

const openai = new OpenAI({ apiKey: 'key' })
const anthropic = new Anthropic({ apiKey: 'key' })
const google = new GoogleGenAI({ apiKey: 'key' })

const FACTORIES: readonly [string, (options: never) => unknown, object, object][] = [
  ['openaiResponses', openaiResponses, openai, anthropic],
  ['openaiChat', openaiChat, openai, google],
  ['foundry', foundry, openai, google],
  ['anthropicMessages', anthropicMessages, anthropic, openai],
  ['gemini', gemini, google, openai],
]

describe('checkModelOptions', () => {
  it.each(FACTORIES)('lets %s be made of its own client', (_, make, client) => {
    expect(make({ client, model: 'm' } as never)).toMatchObject({ model: 'm' })
  })

  it.each(FACTORIES)('refuses to make %s of another client, or none', (name, make, _, other) => {
    const own = `^\`client\` of \`${name}\` must be the provider's own: \`new \\w+\\(.*\\)\`\\.$`
    // Where a key may stand for the client, one of them is missing.
    const none = name === 'gemini' ? '^`apiKey` of `gemini` must be a key, or give a client: ' : own
    for (const [options, message] of [
      [undefined, none],
      [{}, none],
      [{ client: other, model: 'm' }, own],
      [{ client: 'key', model: 'm' }, own],
    ] as const) {
      expect(() => make(options as never)).toThrow(
        expect.objectContaining({
          code: 'E_INVALID_MODEL',
          message: expect.stringMatching(message) as string,
        }),
      )
    }
  })

  it.each(FACTORIES)('refuses to make %s without the name of a model', (name, make, client) => {
    for (const model of [undefined, '', 5]) {
      expect(() => make({ client, model } as never)).toThrow(
        `\`model\` of \`${name}\` must be the name of a model, a string.`,
      )
    }
  })

  it.each(FACTORIES)('refuses a `maxResponseBytes` of %s that is no size', (name, make, client) => {
    for (const maxResponseBytes of [0, -1, Number.NaN, '1 MB']) {
      expect(() => make({ client, model: 'm', maxResponseBytes } as never)).toThrow(
        `\`maxResponseBytes\` of \`${name}\` must be a number of bytes, 1 or more.`,
      )
    }
  })

  it.each(FACTORIES.filter(([name]) => name !== 'gemini'))(
    'refuses a `cache` of %s that is neither true nor false',
    (name, make, client) => {
      expect(() => make({ client, model: 'm', cache: '5m' } as never)).toThrow(
        `\`cache\` of \`${name}\` must be true or false, or be left out.`,
      )
    },
  )

  it.each(FACTORIES)('refuses unknown options of %s', (name, make, client) => {
    expect(() => make({ client, model: 'm', max_tokens: 5 } as never)).toThrow(
      `\`max_tokens\` of \`${name}\` is not an option: put it under \`params\`, as in \`params: { max_tokens: … }\`.`,
    )
    expect(() => make({ client, model: 'm', streamin: false } as never)).toThrow(
      `\`streamin\` of \`${name}\` is not an option: use \`streaming\`, or put it under \`params\`.`,
    )
  })

  it('says that the newest version of Anthropic refuses a temperature', () => {
    const options = { client: anthropic, model: 'm', temperature: 0 }
    expect(() => anthropicMessages(options as never)).toThrow(/2026-10-21.* refuses `temperature`/)
  })
})
