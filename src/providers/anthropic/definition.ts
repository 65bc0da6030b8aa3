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
    async open(sdk, { name, apiKey, baseURL }) {
      const { default: Client } = sdk as { readonly default: typeof Anthropic }
      const { anthropicMessages } = await import('./model.ts')
      const at = baseURL === undefined ? {} : { baseURL }
      const client = new Client({ apiKey, maxRetries: 0, ...at })
      return anthropicMessages({ client, model: name })
    },
  },
})
