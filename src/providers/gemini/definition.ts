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
    async open(sdk, { name, apiKey, baseURL }) {
      const { GoogleGenAI: Client } = sdk as { readonly GoogleGenAI: typeof GoogleGenAI }
      const { gemini } = await import('./model.ts')
      const at = baseURL === undefined ? {} : { httpOptions: { baseUrl: baseURL } }
      return gemini({ client: new Client({ apiKey, ...at }), model: name })
    },
  },
})
