// Real traffic in tests: a loopback server passes requests on to a real one and writes what it saw, without keys.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TurnRunner } from 'bobbin-adk'
import { openaiChat } from 'bobbin-adk/openai'
import { loopbackProvider } from 'bobbin-adk/testing'
import OpenAI from 'openai'

const directory = await mkdtemp(join(tmpdir(), 'recordings-'))
const delta = { role: 'assistant', content: 'Snow.' }
// Stands for https://api.openai.com/v1, so that this program needs no key.
const real = await loopbackProvider({
  api: 'openai-chat',
  exchanges: [{ events: [{ choices: [{ index: 0, delta, finish_reason: 'stop' }] }] }],
})

// #region record
const recorder = await loopbackProvider({
  api: 'openai-chat',
  record: { upstream: real.url, directory }, // or `record: 'https://api.openai.com/v1'`: into ./recordings
})
const client = new OpenAI({ apiKey: 'sk-a-real-key', baseURL: recorder.url })
const model = openaiChat({ client, model: 'gpt-5.4' })
assert.equal((await new TurnRunner({ model }).run({ message: 'How is Oslo?' })).text, 'Snow.')
await recorder.close()
// #endregion record
await real.close()

// #region play
const [file = ''] = await readdir(directory)
const text = await readFile(join(directory, file), 'utf8')
assert.ok(!text.includes('sk-a-real-key'))

const { exchange } = JSON.parse(text)
const server = await loopbackProvider({ api: 'openai-chat', exchanges: [exchange] })
const offline = openaiChat({
  client: new OpenAI({ apiKey: 'none', baseURL: server.url }),
  model: 'gpt-5.4',
})
assert.equal((await new TurnRunner({ model: offline }).run({ message: 'Oslo?' })).text, 'Snow.')
// #endregion play

await server.close()
await rm(directory, { recursive: true })
console.log('recorded and played', file)
