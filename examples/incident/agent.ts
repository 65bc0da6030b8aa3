// The agent that `npm start` runs: six tools over a generated incident, and rules that decide without a model.
import { INCIDENT } from './facts.ts'
import { offlinePlan } from './lookup-plan.ts'
import { planExecutor } from './plan-executor.ts'
import { incidentTools } from './tools.ts'

/** A function, so that every session starts before the rollback. */
export const agent = () => ({
  question: [
    `Why did ${INCIDENT.service} fail at noon, and what should we do?`,
    `Which hosts run ${INCIDENT.badVersion}?`,
  ],
  instructions:
    'You are on call. Find out what is wrong with the tools you have. Large results are kept out of the prompt: query them with the artifact_* tools instead of guessing. Say what you know and how you know it, in a few sentences.',
  tools: incidentTools(),
  // In a terminal the text arrives word by word, as from a model.
  offline: planExecutor(offlinePlan, { wordMs: process.stdout.isTTY ? 12 : 0 }),
  repeat: { hint: 2, refuse: 3, stop: 6 },
})
