import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import { redactKeys } from '../../src/store/rows/redact-keys.ts'
import type { Store } from '../../src/store/store.ts'
import { type LoopbackExchange, loopbackProvider } from '../../src/testing/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import type { Approve } from '../../src/turn/gates/gate-answer.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type WireApi, wire } from '../../src/wire/index.ts'
import { APIS, samplesOf } from './provider-samples.ts'

const PASSWORD = 'hunter2-hunter2'
const NOT_STORED =
  'Refused: the arguments of this call were not stored, so that it could not wait for a decision. It was not run.'
const conversation = 'c'

/** A provider over HTTP, and a store that keeps no password. */
async function connect(
  api: WireApi,
  exchanges: readonly LoopbackExchange[],
  { streaming = false, approve }: { streaming?: boolean; approve?: Approve } = {},
) {
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const store = memoryStore({ redact: redactKeys(/password/) })
  const logIn = new Tool({
    name: 'log_in',
    description: 'Logs in.',
    inputSchema: z.looseObject({}),
    effect: 'write',
    approval: approve !== undefined,
    handler: () => 'in',
  })
  /** Each runner knows only what the store holds. */
  const runner = () =>
    new TurnRunner({
      model: samplesOf(api).open(server.url, { streaming }),
      tools: [logIn],
      store,
      ...(approve && { approve }),
    })
  const violations = () => server.requests.flatMap((request) => request.violations)
  return { runner, store, server, violations }
}

async function stored(store: Store): Promise<string> {
  let text = JSON.stringify(await store.openGates(conversation))
  for await (const entry of store.entries(conversation)) text += JSON.stringify(entry)
  for await (const line of store.export(conversation)) text += JSON.stringify(line)
  return text
}

describe.each(APIS)('redacted arguments over %s', (api) => {
  const script = samplesOf(api).script
  const args = JSON.stringify({ password: PASSWORD, user: 'ann' })
  const call = { id: 'call_1', tool: 'log_in', args }
  const asked = { events: script.calls([call]), body: script.unstreamed.call(call) }
  const answer = { events: script.answer('fine'), body: script.unstreamed.answer('fine') }

  it.each([true, false])(
    'are in no entry, and the next request is valid (streaming: %s)',
    async (streaming) => {
      const played = await connect(api, [asked, answer, answer], { streaming })
      const first = await played.runner().run({ conversation, message: 'log in' })
      expect(first.toolCalls).toMatchObject([{ settlement: 'ok', args: { password: PASSWORD } }])
      const log = await stored(played.store)
      expect([log.includes(PASSWORD), log.includes('"user":"ann"')]).toEqual([false, true])
      const next = await played.runner().run({ conversation, message: 'and?' })
      expect(next).toMatchObject({ status: 'completed', text: 'fine' })
      expect(JSON.stringify(played.server.requests[2]?.body)).not.toContain(PASSWORD)
      expect(played.violations()).toEqual([])
      expect((await played.store.verify({ conversation })).faults).toEqual([])
    },
  )

  it('are in no entry of a call that a person changed', async () => {
    const approve = () => ({ approve: true, decidedBy: 'ann', args: { user: 'bob' } })
    const played = await connect(api, [asked, answer], { approve })
    const { toolCalls } = await played.runner().run({ conversation, message: 'log in' })
    expect(toolCalls).toMatchObject([{}, { settlement: 'ok', args: { user: 'bob' } }])
    expect((await stored(played.store)).includes(PASSWORD)).toBe(false)
  })
})

describe.each(['openai-responses', 'foundry'] as const)(
  'redacted arguments of a call that %s runs',
  (api) => {
    const response = (id: string, ...output: object[]) => ({
      body: { id, status: 'completed', output },
    })
    const call = {
      server_label: 'crm',
      name: 'log_in',
      arguments: JSON.stringify({ password: PASSWORD }),
    }
    const asked = { type: 'mcp_approval_request', id: 'mcpr_1', ...call }
    const done = { type: 'mcp_call', id: 'mcp_1', ...call, status: 'completed', output: 'in' }
    const said = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'fine', annotations: [] }],
    }

    it('are in no entry, and the next request is valid', async () => {
      const played = await connect(api, [response('r1', done, said), response('r2', said)])
      await played.runner().run({ conversation, message: 'log in' })
      expect((await stored(played.store)).includes(PASSWORD)).toBe(false)
      await played.runner().run({ conversation, message: 'and?' })
      expect(played.violations()).toEqual([])
    })

    it('are in no entry while the provider waits, and its request cannot be approved', async () => {
      const played = await connect(api, [response('r1', asked), response('r2', said)])
      const { gates } = await played.runner().run({ conversation, message: 'log in' })
      expect(gates).toHaveLength(1)
      expect((await stored(played.store)).includes(PASSWORD)).toBe(false)
      const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
      const outcome = await played.runner().resume({ conversation, decisions })
      expect(outcome.toolCalls).toMatchObject([
        { id: 'mcpr_1', settlement: 'refused', results: { text: NOT_STORED } },
      ])
      const sent = JSON.stringify(played.server.requests[1]?.body)
      expect(sent).not.toMatch(/mcp_approval|hunter2/)
      expect(played.violations()).toEqual([])
    })
  },
)
