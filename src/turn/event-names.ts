import { BobbinError } from '../core/error.ts'
import type { FunctionalEventName, ObservedEventName } from './turn-events.ts'

// Spelled as records, so that the compiler asks for an event that is missing here.
const CONTENT: Readonly<Record<FunctionalEventName, true>> = {
  message: true,
  thought: true,
  toolInput: true,
  toolCall: true,
}
const OBSERVED: Readonly<Record<ObservedEventName, true>> = {
  turnStart: true,
  turnEnd: true,
  dispatchStart: true,
  dispatchEnd: true,
  iterationStart: true,
  iterationEnd: true,
  toolExecutionStart: true,
  toolExecutionEnd: true,
  toolProgress: true,
  gateOpened: true,
  gateDecided: true,
  budget: true,
  historyRepair: true,
  warning: true,
  error: true,
}

/** The events that `runner.on` hears. */
export const CONTENT_EVENTS = Object.keys(CONTENT) as readonly FunctionalEventName[]
/** The events that `runner.observe` hears. */
export const OBSERVED_EVENTS = Object.keys(OBSERVED) as readonly ObservedEventName[]

/** Refuses a listener that nobody would ever call: a slip in the name, or the other bus. */
export function checkListener(way: 'on' | 'observe', name: unknown, listener: unknown): void {
  const names: readonly unknown[] = way === 'on' ? CONTENT_EVENTS : OBSERVED_EVENTS
  const others: readonly unknown[] = way === 'on' ? OBSERVED_EVENTS : CONTENT_EVENTS
  const event = String(name)
  if (!names.includes(name)) {
    const wayOut = others.includes(name)
      ? `Use \`runner.${way === 'on' ? 'observe' : 'on'}\` for this one.`
      : `There are ${names.join(', ')}.`
    const message = `\`runner.${way}\` hears no event \`${event}\`. ${wayOut}`
    throw new BobbinError('E_INVALID_LISTENER', message, { event })
  }
  if (typeof listener === 'function') return
  const message = `The listener for \`${event}\` is no function. Pass one of (content, origin).`
  throw new BobbinError('E_INVALID_LISTENER', message, { event })
}
