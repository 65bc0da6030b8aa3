import type Anthropic from '@anthropic-ai/sdk'
import { defineProvider } from '../../model/define-provider.ts'
import { messages } from './protocol.ts'

/** The Messages protocol with its name on the command line. */
export const anthropicMessagesProvider = defineProvider({
  ...messages,
  cli: {
    name: 'anthropic',
    keys: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-5-5',
    client: '@anthropic-ai/sdk',
    entry: 'bobbin-adk/anthropic',
    factory: 'anthropicMessages',
    connect: (sdk, { apiKey, baseURL }) => {
      const { default: Client } = sdk as { readonly default: typeof Anthropic }
      const at = baseURL === undefined ? {} : { baseURL }
      return { client: new Client({ apiKey, maxRetries: 0, ...at }) }
    },
  },
})
