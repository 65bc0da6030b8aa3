import type { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime'
import { checkModelOptions } from '../../model/check-model-options.ts'
import type { Model } from '../../model/model.ts'
import { wireModel } from '../../model/wire-model.ts'
import { clientInput } from './client-input.ts'
import { converseWith } from './protocol.ts'
import type { RequestSettings } from './request.ts'
import { watched } from './watched-command.ts'

/** A client and a model of Amazon Bedrock, and what every request carries along. */
export interface BedrockConverseOptions extends RequestSettings {
  /** Your client: it has the region, the credentials, the retries and the time-outs. */
  readonly client: Pick<BedrockRuntimeClient, 'config' | 'send'>
  /**
   * Whether the model checks what stands before its reasoning, as Claude does from Fable 5.1 on. Reasoning that it would
   * refuse is then left out. The name of the model tells when absent.
   */
  readonly boundThinking?: boolean
  /**
   * Whether changed instructions are appended to the history as system messages, so that requests only grow. The name of
   * the model tells when absent.
   */
  readonly appends?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
}

/** A model of Amazon Bedrock, called through the Converse API. */
export function bedrockConverse(options: BedrockConverseOptions): Model {
  checkModelOptions(options, {
    factory: 'bedrockConverse',
    members: ['send'],
    example: 'new BedrockRuntimeClient({ region })',
    options: ['boundThinking', 'cache', 'appends'],
  })
  const { client, streaming = true, boundThinking, ...settings } = options
  return wireModel(converseWith({ boundThinking }), {
    ...settings,
    modelFamily: familyOf(settings.model),
    stream: streaming,
    send: async (body, { signal, watch }) => {
      // The commands are functions of the client's package, which is loaded when it is first needed.
      const { ConverseCommand, ConverseStreamCommand } = await import(
        '@aws-sdk/client-bedrock-runtime'
      )
      const abort = signal && { abortSignal: signal }
      const input = clientInput(body)
      if (streaming) {
        const command = new ConverseStreamCommand(input)
        const { taken } = watched(command, streaming, watch)
        const { stream } = await client.send(command, abort)
        return taken() ?? { events: stream ?? noEvents() }
      }
      const command = new ConverseCommand(input)
      const { taken } = watched(command, streaming, watch)
      const payload = await client.send(command, abort)
      return taken() ?? { payload }
    },
  })
}

async function* noEvents(): AsyncGenerator<never> {}

/** Reasoning is read back within a family: `claude` in `us.anthropic.claude-opus-4-6-v1:0`. A name without one is its own. */
function familyOf(model: string): string {
  const name = model.split('/').at(-1) ?? model
  return /(?:^|\.)[a-z0-9-]+\.([a-z]+)(?:[-\d:]|$)/.exec(name)?.[1] ?? name
}
