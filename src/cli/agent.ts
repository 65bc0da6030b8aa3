import type { Model } from '../model/model.ts'
import type { Executor } from '../turn/executor.ts'
import type { TurnRunnerOptions } from '../turn/runner-options.ts'
import { INCIDENT } from './incident/facts.ts'
import { incidentTools } from './incident/incident-tools.ts'
import { offlinePlan } from './offline/lookup-plan.ts'
import { planExecutor } from './offline/plan-executor.ts'

/** What an agent file gives: the options of a `TurnRunner`, as far as it cares. */
export type Agent = Omit<TurnRunnerOptions, 'store' | 'spool' | 'model' | 'executor'> & {
  readonly model?: Model
  readonly executor?: Executor
  /** Asked when the command line asks nothing. */
  readonly question?: string
}

export const BUILT_IN_QUESTION = `Why did ${INCIDENT.service} fail at noon, and what should we do?`

/** The agent without a file: the tools of a generated incident, and rules where there is no model. */
export function builtInAgent({ wordMs }: { readonly wordMs: number }): Agent {
  return {
    question: BUILT_IN_QUESTION,
    instructions:
      'You are on call. Find out what is wrong with the tools you have. Large results are kept out of the prompt: query them with the artifact_* tools instead of guessing. Say what you know and how you know it, in a few sentences.',
    tools: incidentTools(),
    executor: planExecutor(offlinePlan, { wordMs }),
    repeat: { hint: 2, refuse: 3, stop: 6 },
  }
}
