// `npm test`: the suite that Bobbin's own protocols pass, and one turn over HTTP.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tool, TurnRunner } from 'bobbin-adk'
import { loopbackProvider, modelConformance } from 'bobbin-adk/testing'
import { wire } from 'bobbin-adk/wire'
import { parley, parleyModel } from './provider.mjs'

for (const { name, run } of modelConformance(parley)) await test(name, run)

await test('a turn over HTTP', async (t) => {
  const server = await loopbackProvider({
    api: parley,
    validate: wire(parley).validate,
    exchanges: [
      {
        events: [{ ask: { ref: 'r1', verb: 'weather', with: { city: 'Oslo' } } }, { end: 'asks' }],
      },
      { events: [{ say: '4 C ' }, { say: 'in Oslo.' }, { end: 'done' }] },
    ],
  })
  t.after(() => server.close())
  const weather = new Tool({
    name: 'weather',
    description: 'The weather in a city.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    effect: 'read',
    handler: () => '4 C',
  })
  const runner = new TurnRunner({
    model: parleyModel({ model: 'm', url: server.url }),
    tools: [weather],
  })
  const outcome = await runner.run({ message: 'Weather in Oslo?' })
  assert.equal(outcome.text, '4 C in Oslo.')
  assert.equal(server.requests.length, 2)
})
