import * as ai from 'ai-7'
import { loopOf } from './ai-sdk.mjs'

export const loop = loopOf({ ...ai, stepCountIs: ai.stepCountIs ?? ai.isStepCount }, 'v4')
