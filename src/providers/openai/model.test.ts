import { describe, expect, it } from 'vitest'
import { connectModel, finishOf } from '../../../test/wire/connect-model.ts'
import { REQUEST } from '../../../test/wire/model-sample.ts'
import { samplesOf } from '../../../test/wire/provider-samples.ts'

describe.each(['openai-responses', 'foundry'] as const)('%s', (api) => {
  const { ask } = samplesOf(api).model

  it('gives each call once when an event comes twice, wherever that is', async () => {
    const exchanges = ask.events.map((_, at) => ({ ...ask, fault: { type: 'duplicate', at } }))
    const { model } = await connectModel(api, exchanges as never)
    for (const _ of exchanges) {
      const { items } = await finishOf(model, REQUEST)
      expect(items).toMatchObject([{}, { args: { city: 'Oslo' } }, { args: { city: 'Rome' } }])
    }
  })
})

describe('openaiChat', () => {
  const { ask } = samplesOf('openai-chat').model

  it('refuses the arguments that a repeated chunk broke', async () => {
    const exchange = { ...ask, fault: { type: 'duplicate', at: 2 } as const }
    const { model } = await connectModel('openai-chat', [exchange])
    const { items } = await finishOf(model, REQUEST)
    expect(items[1]).toMatchObject({ type: 'call', fault: { rule: 'not-json' } })
  })

  it('refuses a stream whose chunks change places around its end', async () => {
    const at = ask.events.length - 3
    const { model } = await connectModel('openai-chat', [
      { ...ask, fault: { type: 'reorder', at } },
    ])
    await expect(finishOf(model, REQUEST)).rejects.toMatchObject({ code: 'E_STREAM_BROKEN' })
  })
})
