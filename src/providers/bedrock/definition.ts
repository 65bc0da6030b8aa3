import type { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime'
import { defineProvider } from '../../model/define-provider.ts'
import { converse } from './protocol.ts'

/** The Converse protocol with its name on the command line. */
export const bedrockConverseProvider = defineProvider({
  ...converse,
  cli: {
    name: 'bedrock',
    keys: ['AWS_BEARER_TOKEN_BEDROCK'],
    client: '@aws-sdk/client-bedrock-runtime',
    entry: 'bobbin-adk/bedrock',
    factory: 'bedrockConverse',
    connect: (sdk, { apiKey, baseURL }) => {
      const { BedrockRuntimeClient: Client } = sdk as {
        readonly BedrockRuntimeClient: typeof BedrockRuntimeClient
      }
      // The client finds the region by itself; at another address any will do.
      const at = baseURL === undefined ? {} : { endpoint: baseURL, region: 'us-east-1' }
      const auth = { token: { token: apiKey }, authSchemePreference: ['httpBearerAuth'] }
      return { client: new Client({ maxAttempts: 1, ...auth, ...at }) }
    },
  },
})
