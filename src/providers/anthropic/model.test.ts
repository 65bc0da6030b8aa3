import { describe, expect, it } from 'vitest'
import { connectModel, finishOf } from '../../../test/wire/connect-model.ts'
import { REQUEST } from '../../../test/wire/model-sample.ts'
import { samplesOf } from '../../../test/wire/provider-samples.ts'

const api = 'anthropic-messages'
const { ask, answer } = samplesOf(api).model

describe('anthropicMessages', () => {
  it('uses the beta half of the client when betas are asked for', async () => {
    const betas = ['mcp-client-2025-11-20']
    const { model, server, bodies } = await connectModel(api, [answer], { params: { betas } })
    await finishOf(model, REQUEST)
    expect(server.requests[0]?.headers['anthropic-beta']).toBe(betas[0])
    expect(bodies()[0]).not.toHaveProperty('betas')
  })

  it('sends the container back until it expires', async () => {
    const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' }
    const exchange = { body: { ...(answer.body as object), container } }
    const skills = [{ type: 'anthropic', skill_id: 'pdf' }]
    let time = Date.parse('2029-12-31T00:00:00Z')
    const { model, bodies } = await connectModel(api, [exchange, exchange, exchange], {
      streaming: false,
      now: () => time,
      params: { container: { skills } },
    })
    const { items } = await finishOf(model, REQUEST)
    const later = { items: [...REQUEST.items, ...items, ...REQUEST.items] }
    await finishOf(model, later)
    time = Date.parse('2030-01-02T00:00:00Z')
    await finishOf(model, later)
    expect(bodies().map((body) => body['container'])).toEqual([
      { skills },
      { skills, id: 'container_1' },
      { skills },
    ])
  })

  it('judges arguments as they were sent, streaming and not', async () => {
    const twice = (sent: unknown) => JSON.stringify(sent).replace('"Oslo"', '"Oslo","city":"Lima"')
    const exchange = { events: ask.events.map(twice), body: twice(ask.body) }
    const { open } = await connectModel(api, [exchange, exchange])
    for (const streaming of [true, false]) {
      const { items } = await finishOf(open({ streaming }), REQUEST)
      expect(items[1]).toMatchObject({ id: 'call_1', fault: { rule: 'duplicate-key' } })
    }
  })
})
