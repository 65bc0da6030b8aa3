import type { Gate } from '../../store/gate.ts'
import type { Grant, GrantRequest } from '../../store/grant.ts'
import { visibleText } from '../../text/visible-text.ts'
import { nameText } from '../terminal/call-text.ts'

/** Whether a standing approval can be given with the approval of this gate. */
export const mayGrant = ({ kind, from, context, tool = '' }: Gate): boolean =>
  kind === 'approval' &&
  from === 'runner' &&
  !tool.startsWith('undo:') &&
  typeof context?.['definition'] === 'string'

/** Whether the call waits because of what the conversation has read, whatever else makes it wait. */
export const isTaintGated = ({ because, context }: Gate): boolean =>
  because === 'trust' || context?.['tainted'] === true

/** What a grant covers, in one sentence. Nothing that it covers is left out. */
export function coverText(
  grant: Pick<Grant, 'tool' | 'args' | 'exact' | 'for' | 'subject' | 'tainted'>,
): string {
  const { tool, args, exact, tainted, subject } = grant
  const where =
    grant.for === 'conversation'
      ? 'in this conversation and its sub-agents'
      : `in every conversation of ${subject === undefined ? 'this subject' : nameText(subject)}`
  const strangers = tainted ? ', also after it has read text of strangers' : ''
  return `Every later call of ${nameText(tool)} ${where}${strangers}, ${withText(args, exact)}.`
}

function withText(args: object, exact: true | undefined): string {
  const shown = visibleText(JSON.stringify(args))
  if (exact) return `with exactly these arguments: ${shown}`
  if (Object.keys(args).length === 0) return 'with any arguments'
  return `with any arguments that have ${shown}`
}

/** The grant that a person chooses: for which arguments, named by their members. */
export function grantFor(
  gate: Gate,
  whom: GrantRequest['for'],
  members: readonly string[] | undefined,
): GrantRequest {
  const { args = {} } = gate
  const named = members?.map((name) => [name, args[name]] as const)
  return {
    for: whom,
    ...(named && { args: Object.fromEntries(named) }),
    ...(isTaintGated(gate) && { tainted: true }),
  }
}
