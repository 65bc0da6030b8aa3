import type { GoogleGenAI } from '@google/genai'
import { defineProvider } from '../../model/define-provider.ts'
import { generateContent } from './protocol.ts'

/** The protocol with its name on the command line. */
export const geminiProvider = defineProvider({
  ...generateContent,
  cli: {
    name: 'gemini',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    defaultModel: 'gemini-3.8-flash',
    client: '@google/genai',
    entry: 'bobbin-adk/gemini',
    factory: 'gemini',
    connect: (sdk, { apiKey, baseURL }) => {
      const { GoogleGenAI: Client } = sdk as { readonly GoogleGenAI: typeof GoogleGenAI }
      const at = baseURL === undefined ? {} : { httpOptions: { baseUrl: baseURL } }
      return { client: new Client({ apiKey, ...at }) }
    },
  },
})
