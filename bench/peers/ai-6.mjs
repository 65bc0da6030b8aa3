import { generateText, stepCountIs, tool } from 'ai'
import { loopOf } from './ai-sdk.mjs'

export const loop = loopOf({ generateText, stepCountIs, tool }, 'v3')
