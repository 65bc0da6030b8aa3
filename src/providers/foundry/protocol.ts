import { defineProvider } from '../../model/define-provider.ts'
import type { WireRule } from '../../model/wire/wire-adapter.ts'
import { ITEM_READERS } from '../openai/responses/decode/decode-item.ts'
import { responsesWith } from '../openai/responses/protocol.ts'
import type { RequestView } from '../openai/responses/validate/request-view.ts'
import { RESPONSES_RULES } from '../openai/responses/validate/validate.ts'
import { detect } from './detect.ts'
import { FOUNDRY_READERS, OUTPUT_ONLY, toFoundryInput } from './items.ts'
import { loopback } from './loopback.ts'

const dialect = {
  api: 'foundry' as const,
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
export const foundryResponses = defineProvider({
  ...responsesWith(dialect, rules),
  title: 'Azure AI Foundry',
  detect,
  loopback,
})
