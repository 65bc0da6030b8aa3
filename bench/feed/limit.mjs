// The same bytes through `fetch`, eventsource-parser and `JSON.parse`, and each text as a chunk of a UI message stream: no
// kit, no state, no checks. Nothing that reads and writes these streams in this engine takes much less.
import { createParser } from 'eventsource-parser'
import { lookInput } from './look-input.mjs'

export function respond(baseURL) {
  const tools = [{ type: 'function', function: { name: 'look', parameters: lookInput } }]
  return () => {
    const encoder = new TextEncoder()
    const chunks = read(baseURL, tools)
    const body = new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`))
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body)
  }
}

async function* read(baseURL, tools) {
  const messages = [{ role: 'user', content: 'go' }]
  for (const role of ['tool', 'end']) {
    const request = JSON.stringify({ messages, tools, stream: true })
    const { body } = await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: request })
    const decoder = new TextDecoder()
    let found = []
    const parser = createParser({
      onEvent({ data }) {
        const delta = data === '[DONE]' ? undefined : JSON.parse(data).choices[0].delta.content
        if (delta) found.push({ type: 'text-delta', id: '0', delta })
      },
    })
    for await (const bytes of body) {
      parser.feed(decoder.decode(bytes, { stream: true }))
      yield* found
      found = []
    }
    messages.push({ role })
  }
}
