import { defineProvider } from '../../../model/define-provider.ts'
import { interactions } from './protocol.ts'

/** The protocol with its name on the command line. */
export const geminiInteractionsProvider = defineProvider({
  ...interactions,
  cli: {
    name: 'gemini-interactions',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    client: '@google/genai',
    entry: 'bobbin-adk/gemini',
    factory: 'geminiInteractions',
    connect: (_sdk, { apiKey, baseURL }) => ({
      apiKey,
      ...(baseURL !== undefined && { baseUrl: baseURL }),
    }),
  },
})
