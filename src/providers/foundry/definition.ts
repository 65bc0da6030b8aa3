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
    entry: 'bobbin-adk/foundry',
    factory: 'foundry',
    connect: (sdk, connection) => ({ client: clientOf(sdk, connection) }),
  },
})
