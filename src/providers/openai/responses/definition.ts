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
    async open(sdk, connection) {
      const { openaiResponses } = await import('./model.ts')
      return openaiResponses({ client: clientOf(sdk, connection), model: connection.name })
    },
  },
})
