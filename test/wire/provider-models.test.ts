import { getEventListeners } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isBobbinError } from '../../src/core/error/error.ts'
import type { LoopbackExchange } from '../../src/testing/index.ts'
import { connectModel, finishOf, settled } from './connect-model.ts'
import { REQUEST, SECRET } from './model-sample.ts'
import { samplesOf, WAYS } from './provider-samples.ts'

describe.each(WAYS)('a model of %s', (way) => {
  const { api, model: sample } = samplesOf(way)
  const { ask, answer, model: name } = sample
  // The client of Gemini reads responses itself and gives parsed objects.
  const readsBytes = way !== 'gemini'
  // Google does not tell what it wrote to a cache.
  const written = api.startsWith('gemini') ? {} : { cacheWriteTokens: 1 }
  const connect = (exchanges: readonly LoopbackExchange[], streaming = true) =>
    connectModel(way, exchanges, { model: name, streaming })
  const failing = async (exchange: LoopbackExchange, streaming = true) => {
    const { model } = await connect([exchange], streaming)
    return finishOf(model, REQUEST)
  }

  it.each([
    ['streaming', true, {}],
    ['streaming byte by byte', true, { chunkBytes: 1 }],
    ['whole', false, {}],
  ])('holds a two-step conversation with tools, %s', async (_, streaming, more) => {
    const { model, server, bodies } = await connect([{ ...ask, ...more }, answer], streaming)
    const first = await finishOf(model, REQUEST)
    expect(first).toMatchObject({
      reason: 'tools',
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 1, ...written },
      items: [
        { type: 'thought' },
        { type: 'call', id: 'call_1', args: { city: 'Oslo' } },
        { type: 'call', id: 'call_2', args: { city: 'Rome' } },
      ],
    })
    const items = [...REQUEST.items, ...settled(first.items)]
    const second = await finishOf(model, { ...REQUEST, items })
    expect(second).toMatchObject({ reason: 'stop', items: [{ parts: [{ text: '4 and 18.' }] }] })
    expect(bodies()[1]).toEqual(sample.sent(streaming))
    expect(server.requests.map(({ isStream }) => isStream)).toEqual([streaming, streaming])
    expect(server.requests.flatMap(({ violations }) => violations)).toEqual([])
  })

  it('leaves no listener on a signal that many requests share', async () => {
    const requests = 12
    const { model } = await connect(Array.from({ length: requests }, () => answer))
    const { signal } = new AbortController()
    const warnings: string[] = []
    const onWarning = ({ name: warning }: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    for (let n = 0; n < requests; n++) await finishOf(model, REQUEST, { signal })
    // Node emits warnings in a later tick.
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('gives the same streamed and whole', async () => {
    const { open } = await connect([ask, ask])
    const streamed = await finishOf(open({ streaming: true }), REQUEST)
    expect(await finishOf(open({ streaming: false }), REQUEST)).toEqual(streamed)
  })

  it('sends hosted tools and parameters, which win', async () => {
    const { settings, request, body } = sample.custom
    const { model, bodies } = await connectModel(way, [answer], { ...settings, streaming: false })
    await finishOf(model, { ...REQUEST, ...request })
    expect(bodies()).toEqual([body])
  })

  it.each(sample.choiceMembers)('sends no `%s` without tools', async (member) => {
    const { model, bodies } = await connect([answer])
    await finishOf(model, { items: REQUEST.items, toolChoice: 'none' })
    expect(bodies()[0]).not.toHaveProperty(member)
  })

  it('gives opaque state back to its own endpoint and model only', async () => {
    const { model, open, bodies } = await connect([ask, answer, answer])
    const { items } = await finishOf(model, REQUEST)
    const request = { ...REQUEST, items: [...REQUEST.items, ...settled(items)] }
    await finishOf(model, request)
    await finishOf(open({ model: sample.stranger }), request)
    expect(bodies().map((body) => JSON.stringify(body).includes(SECRET))).toEqual([
      false,
      true,
      false,
    ])
  })

  it.each(readsBytes ? ['application/json'] : [])(
    'reads a whole answer, as %s, of a server that does not stream',
    async (type) => {
      const exchange = { recording: JSON.stringify(ask.body), headers: { 'content-type': type } }
      const { model } = await connect([exchange])
      expect((await finishOf(model, REQUEST)).items).toHaveLength(3)
    },
  )

  it.each(sample.failures)('tells status %i with %j as %s', async (status, body, code) => {
    const headers = typeof body === 'string' ? { 'content-type': 'text/plain' } : {}
    const isRetryable = /UNAVAILABLE|RATE_LIMITED/.test(code)
    await expect(failing({ status, body, headers }, status >= 400)).rejects.toMatchObject({
      code,
      data: { api, isRetryable, ...(status >= 400 && { status }) },
    })
  })

  it('says when it may be tried again', async () => {
    const { exchange, retryAfterMs } = sample.retry
    await expect(failing(exchange)).rejects.toMatchObject({
      code: 'E_PROVIDER_RATE_LIMITED',
      data: { isRetryable: true, retryAfterMs },
    })
  })

  it.each([
    [503, 'E_PROVIDER_UNAVAILABLE'],
    [429, 'E_PROVIDER_RATE_LIMITED'],
  ])('tells an error %i after status 200 as %s, even after whole calls', async (status, code) => {
    const fault = { type: 'error', at: ask.events.length - 1, status } as const
    await expect(failing({ ...ask, fault })).rejects.toMatchObject({ code })
  })

  const faults = [
    ['cut', 'E_STREAM_BROKEN'],
    ['corrupt', 'E_STREAM_BROKEN'],
    ['reset', 'E_PROVIDER_UNREACHABLE'],
    ...(readsBytes ? [['invalid-utf8', 'E_STREAM_BROKEN'] as const] : []),
  ] as const
  it.each(faults)('tells a stream that is %s in the middle as %s', async (type, code) => {
    await expect(failing({ ...ask, fault: { type, at: 1 } })).rejects.toMatchObject({ code })
  })

  it('gives an error for a stream without events', async () => {
    await expect(failing({ events: [] })).rejects.toMatchObject({ code: 'E_STREAM_BROKEN' })
  })

  it.each(['oops', ...sample.unfinished])('gives an error for the whole body %j', async (body) => {
    await expect(failing({ body }, false)).rejects.toMatchObject({ code: 'E_STREAM_BROKEN' })
  })

  it('says when the server is down', async () => {
    const { model, server } = await connect([])
    await server.close()
    await expect(finishOf(model, REQUEST)).rejects.toMatchObject({
      code: 'E_PROVIDER_UNREACHABLE',
    })
  })

  it('passes an abort on as it is', async () => {
    const { model } = await connect([{ ...ask, fault: { type: 'stall', at: 1 } }])
    const early = finishOf(model, REQUEST, { signal: AbortSignal.abort() })
    expect(isBobbinError(await early.catch((error: unknown) => error))).toBe(false)
    const late = finishOf(model, REQUEST, { signal: AbortSignal.timeout(50) })
    expect(isBobbinError(await late.catch((error: unknown) => error))).toBe(false)
  })
})
