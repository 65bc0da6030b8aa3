// Continues conversations that another process began. `prefix-breaks.test.ts` starts it.
import { samples as anthropic } from '../../src/providers/anthropic/fixtures/samples.ts'
import { samples as bedrock } from '../../src/providers/bedrock/fixtures/samples.ts'
import { samples as foundry } from '../../src/providers/foundry/fixtures/samples.ts'
import { samples as gemini } from '../../src/providers/gemini/fixtures/samples.ts'
import { samples as interactions } from '../../src/providers/gemini/interactions/fixtures/samples.ts'
import { samples as chat } from '../../src/providers/openai/chat/fixtures/samples.ts'
import { samples as responses } from '../../src/providers/openai/responses/fixtures/samples.ts'
import { BREAKING, playBreaking } from '../prefix/breaking.ts'
import { tell } from './kill-points.ts'
import { storeAt } from './store-at.ts'

/** What the process is told on its command line, as JSON. */
export interface PrefixTask {
  readonly conversations: readonly {
    readonly api: string
    readonly url: string
    readonly path: string
  }[]
  /** The first turn that this process plays. */
  readonly from: number
}

// A bundle has no folders to look for them in.
const ALL = [anthropic, bedrock, foundry, gemini, interactions, chat, responses]

const { conversations, from } = JSON.parse(process.argv[2] ?? '') as PrefixTask

async function play({ api, url, path }: PrefixTask['conversations'][number]): Promise<void> {
  const found = ALL.find((samples) => samples.api === api)
  if (found === undefined) throw new Error(`This program does not know the samples of ${api}.`)
  const { open, model } = found
  const store = storeAt({ path })
  const warnings: string[] = []
  for (let turn = from; turn < BREAKING.length; turn++) {
    const connect = (isStranger: boolean) =>
      open(url, { model: isStranger ? model.stranger : model.model })
    warnings.push(...(await playBreaking(turn, store, connect)))
  }
  await store.close()
  tell({ event: 'played', api, warnings })
}

await Promise.all(conversations.map(play))
