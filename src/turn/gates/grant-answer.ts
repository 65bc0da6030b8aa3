import type { IdSource } from '../../core/ids.ts'
import { checkGrant, type GrantFault } from '../../store/core/new-grant.ts'
import type { Gate, NewGateDecision } from '../../store/gate.ts'
import type { GivenGrant, GrantRequest } from '../../store/grant.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { TurnEmitter } from '../events/turn-emitter.ts'
import { turnContextOf } from './turn-context-of.ts'

/** What a client may say about a grant; the rest comes from the gate and the turn. */
const KEYS = ['for', 'args', 'until', 'uses', 'tainted']

/** The settings that grants depend on. */
export interface GrantRules {
  readonly store: RunnerStore
  readonly clock: { now(): number }
  readonly ids: IdSource
  readonly subject: ((context: never) => string) | undefined
}

/** The subject of a turn with this context, if the application gives one. */
function subjectOf(subject: GrantRules['subject'], context: unknown): string | undefined {
  const given: unknown = subject?.(context as never)
  return typeof given === 'string' && given !== '' ? given : undefined
}

/** Asks the application for the subject of a turn, when it is first needed. Without one, no subject's approvals hold. */
export function subjectOnce(
  { subject }: Pick<GrantRules, 'subject'>,
  context: unknown,
  events: TurnEmitter,
): () => string | undefined {
  let known: { readonly subject: string | undefined } | undefined
  return () => {
    try {
      known ??= { subject: subjectOf(subject, context) }
    } catch (error) {
      events.error(error, 'subject')
      known = { subject: undefined }
    }
    return known.subject
  }
}

/** The grant of an answer, complete and checked against its gate, or what is wrong with it. */
export async function grantOf(
  { store, clock, ids, subject }: GrantRules,
  gate: Gate,
  { verdict, grant }: Pick<NewGateDecision, 'verdict' | 'grant'>,
): Promise<GivenGrant | GrantFault> {
  if (store.grantFor === undefined) {
    return { path: 'grant', rule: 'cannot be given: the store keeps no grants' }
  }
  const given: Readonly<Record<string, unknown>> = { __proto__: null, ...grant }
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) return { path: `grant.${unknown}`, rule: 'is not part of a grant' }
  const { conversation } = gate
  const whom = given['for'] === 'subject' ? await subjectFor(store, subject, gate) : undefined
  const whole = {
    ...(given as unknown as GrantRequest),
    id: ids(),
    ...(whom !== undefined && { subject: whom }),
  }
  const { redacted = [] } = (await store.get(conversation, 'gate-opened', gate.id)) ?? {}
  const place = { conversation, now: clock.now(), redacted }
  return checkGrant(gate, { verdict, grant: whole }, place)
}

async function subjectFor(
  store: RunnerStore,
  subject: GrantRules['subject'],
  gate: Gate,
): Promise<string | undefined> {
  if (subject === undefined) return undefined
  const context = await turnContextOf(store, gate)
  try {
    return subjectOf(subject, context)
  } catch {
    // Without a subject the grant is refused.
    return undefined
  }
}
