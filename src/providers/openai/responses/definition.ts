import { defineProvider } from '../../../model/define-provider.ts'
import { clientOf } from '../client.ts'
import { responses } from './protocol.ts'

/** The protocol with its name on the command line. */
export const openaiResponsesProvider = defineProvider({
  ...responses,
  cli: {
    name: 'openai',
    keys: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-5.4',
    client: 'openai',
    entry: 'bobbin-adk/openai',
    factory: 'openaiResponses',
    connect: (sdk, connection) => ({ client: clientOf(sdk, connection) }),
  },
})
