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
    for (const options of [
      undefined,
      {},
      { client: other, model: 'm' },
      { client: 'key', model: 'm' },
    ]) {
      expect(() => make(options as never)).toThrow(
        expect.objectContaining({
          code: 'E_INVALID_MODEL',
          message: expect.stringMatching(
            `^\`client\` of \`${name}\` must be the provider's own: \`new \\w+\\(.*\\)\`\\.$`,
          ) as string,
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
})
