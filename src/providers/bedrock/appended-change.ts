import { type AppendedChange, CHANGED, type SayChange } from '../../model/appended-changes.ts'
import type { AppendTarget } from '../../model/provider-definition.ts'

/** The first version of each kind of model that is documented to take system messages between others here. */
const FIRST: Readonly<Record<string, number>> = {
  fable: 5.1,
  haiku: 5.5,
  mythos: 5.1,
  opus: 5.5,
  sonnet: 5.5,
}

/** Changed instructions as system messages, for models that take them. */
export function appends({ model, appends: isTold }: AppendTarget): SayChange | undefined {
  const [, kind = '', major, minor = '0'] =
    /claude-([a-z]+)-(\d+)(?:[-.](\d)(?!\d))?/i.exec(model) ?? []
  const first = Object.hasOwn(FIRST, kind) ? FIRST[kind] : undefined
  const isKnown = first !== undefined && Number(`${major}.${minor}`) >= first
  return (isTold ?? isKnown) ? say : undefined
}

/** Only a tool that the request declares can be added, and which models take changes of tools is not documented. */
function say({ instructions, added, restored, removed }: AppendedChange) {
  if (instructions === undefined || added.length + restored.length + removed.length > 0) {
    return undefined
  }
  const parts = [{ type: 'text', text: `${CHANGED}\n\n${instructions}` } as const]
  return [{ type: 'message', role: 'system', parts } as const]
}
