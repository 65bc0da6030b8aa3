import { defineProvider } from '../../model/define-provider.ts'
import { clientOf } from '../openai/client.ts'
import { foundryResponses } from './protocol.ts'

/** The protocol with its name on the command line. */
export const foundryProvider = defineProvider({
  ...foundryResponses,
  cli: {
    name: 'foundry',
    keys: ['AZURE_OPENAI_API_KEY', 'OPENAI_API_KEY'],
    client: 'openai',
    async open(sdk, connection) {
      const { foundry } = await import('./model.ts')
      return foundry({ client: clientOf(sdk, connection), model: connection.name })
    },
  },
})
