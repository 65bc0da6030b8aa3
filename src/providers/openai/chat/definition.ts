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
    entry: 'bobbin-adk/openai',
    factory: 'openaiChat',
    connect: (sdk, connection) => ({ client: clientOf(sdk, connection) }),
  },
})
