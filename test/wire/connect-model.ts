import { onTestFinished } from 'vitest'
import type { Finish } from '../../src/model/events/model-event.ts'
import type { Model, ModelCallOptions, ModelRequest } from '../../src/model/model.ts'
import type { HistoryItem } from '../../src/records/history-item.ts'
import { type LoopbackScript, loopbackProvider } from '../../src/testing/index.ts'
import { wire } from '../../src/wire/index.ts'
import type { ModelSettings } from './model-sample.ts'
import { samplesOf } from './provider-samples.ts'

/** A model with its official client, at a loopback server that plays these exchanges in order. */
export async function connectModel(
  way: string,
  exchanges: readonly LoopbackScript[],
  settings?: ModelSettings,
) {
  const { api, open: connect } = samplesOf(way)
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const open = (others: ModelSettings = {}) => connect(server.url, { ...settings, ...others })
  const bodies = () => server.requests.map(({ body }) => body as Readonly<Record<string, unknown>>)
  return { server, model: open(), open, bodies }
}

/** Runs one round trip to its end. */
export async function finishOf(
  model: Model,
  request: ModelRequest,
  options?: ModelCallOptions,
): Promise<Finish> {
  let finish: Finish | undefined
  for await (const event of model.stream(request, options)) {
    if (event.type === 'finish') finish = event
  }
  if (finish === undefined) throw new Error('the finish is missing')
  return finish
}

/** The items with a result for every call. */
export function settled(items: readonly HistoryItem[]): readonly HistoryItem[] {
  const result = { isError: false, parts: [{ type: 'text' as const, text: '4 C' }] }
  return items.map((item) => (item.type === 'call' ? { ...item, result } : item))
}
