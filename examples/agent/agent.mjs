import { createReadStream } from 'node:fs'
import { Tool } from 'bobbin-adk'
import { openaiResponses } from 'bobbin-adk/openai'
import OpenAI from 'openai'
import { z } from 'zod'

export const model = openaiResponses({ client: new OpenAI(), model: 'gpt-5.4' })
export const instructions = 'Answer in one sentence.'
export const tools = [
  new Tool({
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: z.object({ path: z.string() }),
    effect: 'read',
    inline: false,
    handler: ({ path }) => createReadStream(path),
  }),
]
