import type { GateCause, GateRequest } from './gate.ts'

/** The ways out are those of the application, except the first, which is for the person who decides. */
const CAUSES: Readonly<Record<GateCause, string>> = {
  tool: 'its tool asks for an approval: approve or deny it, or change the `approval` of the tool.',
  trust:
    "it writes, and the conversation holds text from strangers: approve or deny it, declare `trust: 'first-party'` on the tools whose output no stranger can write, or set `policy: 'open'` on the runner.",
  effect:
    'its tool does not declare its effect, and the policy is strict: approve or deny it, declare the `effect` of the tool, or set another `policy` on the runner.',
}

const QUESTIONS: Readonly<Record<string, string>> = {
  input:
    'its tool asks a person for input: answer with a `value` that fits `schema`, or decline with `approve: false`.',
  link: 'its tool asks a person to open a link: open it, do there what it is for and then answer `done: true`, or decline with `approve: false`.',
  result:
    'its tool is external, so the runner does not execute it: answer with its `result`, with an `error`, or decline with `approve: false`.',
}

const APPROVAL = 'the provider asks for an approval: approve or deny it.'
const CONSENT =
  'the provider asks for consent: open the link, consent there and then approve, or deny it.'

/**
 * Why a gate waits and what can be done about it, in one sentence. It is made from codes alone: no word of a model, a
 * tool or a provider is in it.
 */
export function gateWhy({ because, kind, from }: Pick<GateRequest, 'because' | 'kind' | 'from'>) {
  const known = because !== undefined && Object.hasOwn(CAUSES, because) ? CAUSES[because] : ''
  if (known !== '') return `This call waits because ${known}`
  const question = from === 'runner' && Object.hasOwn(QUESTIONS, kind) ? QUESTIONS[kind] : undefined
  if (question !== undefined) return `This call waits because ${question}`
  if (from !== 'provider') return 'This call waits for a decision: approve or deny it.'
  return `This call waits because ${kind === 'link' ? CONSENT : APPROVAL}`
}
