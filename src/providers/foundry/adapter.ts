import type { WireAdapter, WireRule } from '../../model/wire/wire-adapter.ts'
import { decodePayload } from '../openai/responses/decode.ts'
import { ITEM_READERS } from '../openai/responses/decode-item.ts'
import { decodeStream } from '../openai/responses/decode-stream.ts'
import type { ResponsesDialect } from '../openai/responses/dialect.ts'
import { encodeHistory } from '../openai/responses/encode.ts'
import type { RequestView } from '../openai/responses/request-view.ts'
import { RESPONSES_RULES, validateRequest } from '../openai/responses/validate.ts'
import type { ResponsesPart } from '../openai/responses/wire.ts'
import { FOUNDRY_READERS, OUTPUT_ONLY, toFoundryInput } from './items.ts'

const dialect: ResponsesDialect = {
  api: 'foundry',
  provider: 'azure-foundry',
  readers: { ...ITEM_READERS, ...FOUNDRY_READERS },
  toInput: toFoundryInput,
}

const rules: readonly WireRule<RequestView>[] = [
  ...RESPONSES_RULES,
  {
    rule: 'output-only-item',
    prevents: 'a 400 for an item that is not in the input union',
    *check({ items }) {
      for (const { path, type } of items) {
        if (OUTPUT_ONLY.has(type)) yield { path, message: `the service does not take \`${type}\`` }
      }
    },
  },
  {
    rule: 'agent-member',
    prevents: "The 'agent' property is deprecated. Use 'agent_reference' instead.",
    *check({ request }) {
      if (request['agent'] !== undefined) {
        yield { path: 'agent', message: 'is called `agent_reference` now' }
      }
    },
  },
  {
    rule: 'pair-while-chaining',
    prevents: 'No tool output found for function call … (a stored conversation plus a full pair)',
    *check({ items, isStored }) {
      for (const { path, type } of items) {
        if (isStored && type === 'function_call') {
          yield { path, message: 'the service holds this call already: send only its output' }
        }
      }
    },
  },
]

/** The Responses protocol as Azure AI Foundry agents speak it. */
export const foundryAdapter: WireAdapter<ResponsesPart> = {
  api: dialect.api,
  provider: dialect.provider,
  decode: (payload, context) => decodePayload(payload, dialect, context),
  decodeStream: (context) => decodeStream(dialect, context),
  encode: (items, options) => encodeHistory(items, dialect, options),
  validate: (payload) => validateRequest(payload, rules),
}
