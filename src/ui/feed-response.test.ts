import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../store/memory/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { Tool } from '../tools/tool.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { feedResponse } from './feed-response.ts'

const log = new Tool({
  name: 'log',
  description: 'Reads a log.',
  inputSchema: { type: 'object' },
  effect: 'read',
  handler: () => 'a secret line\n'.repeat(10_000),
})

function read(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = []
  createParser({ onEvent: (event) => void events.push(event) }).feed(text)
  return events
}

describe('feedResponse', () => {
  it('sends each event under its position, and never the bytes of a result', async () => {
    const model = scriptedModel([[{ call: 'log' }], [{ text: 'Read.' }]])
    const runner = new TurnRunner({ model, tools: [log], store: memoryStore() })
    const handle = runner.run({ conversation: 'c', message: 'Read it.' })
    const response = feedResponse(handle)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await response.text()
    expect(text).not.toContain('secret')
    const events = read(text)
    expect(events.at(-1)).toEqual({ id: undefined, event: 'end', data: '{}' })
    const told: unknown[] = []
    for await (const event of handle) told.push(JSON.parse(JSON.stringify(event)))
    const sent = events.slice(0, -1).map(({ id, data }) => {
      const event = JSON.parse(data) as { readonly position: string }
      expect(id).toBe(event.position)
      return event
    })
    // A later reader gets what is stored.
    expect(sent.filter(({ position }) => position.endsWith('.0'))).toEqual(told)
  })

  it('says the code of what broke the feed', async () => {
    const runner = new TurnRunner({ model: scriptedModel([]), store: memoryStore() })
    const events = read(await feedResponse(runner.run({ message: '' })).text())
    expect(events).toEqual([{ event: 'failed', data: '{"code":"E_INVALID_TURN_INPUT"}' }])
  })
})
