import type OpenAI from 'openai'
import type { CommandLineConnection } from '../../model/provider-definition.ts'

/** A client from the loaded package, for the command line. */
export function clientOf(sdk: unknown, { apiKey, baseURL }: CommandLineConnection): OpenAI {
  const { default: Client } = sdk as { readonly default: typeof OpenAI }
  return new Client({ apiKey, maxRetries: 0, ...(baseURL !== undefined && { baseURL }) })
}
