import { defineProvider } from '../../../model/define-provider.ts'
import { clientOf } from '../client.ts'
import { chat } from './protocol.ts'

/** The protocol with its name on the command line. */
export const openaiChatProvider = defineProvider({
  ...chat,
  cli: {
    name: 'openai-chat',
    keys: ['OPENAI_API_KEY'],
    client: 'openai',
    async open(sdk, connection) {
      const { openaiChat } = await import('./model.ts')
      return openaiChat({ client: clientOf(sdk, connection), model: connection.name })
    },
  },
})
