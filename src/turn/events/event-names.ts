import { BobbinError } from '../../core/error/error.ts'
import type { FunctionalEventName, ObservedEventName } from './turn-events.ts'

// Records, so that the compiler finds an event that is missing here.
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
  summary: true,
  historyRepair: true,
  warning: true,
  error: true,
}

/** The events of `runner.on`. */
export const CONTENT_EVENTS = Object.keys(CONTENT) as readonly FunctionalEventName[]
/** The events of `runner.observe`. */
export const OBSERVED_EVENTS = Object.keys(OBSERVED) as readonly ObservedEventName[]

/** Refuses a listener that would never be called: a wrong name, or a name of the other bus. */
export function checkListener(way: 'on' | 'observe', name: unknown, listener: unknown): void {
  const names: readonly unknown[] = way === 'on' ? CONTENT_EVENTS : OBSERVED_EVENTS
  const others: readonly unknown[] = way === 'on' ? OBSERVED_EVENTS : CONTENT_EVENTS
  const event = String(name)
  if (!names.includes(name)) {
    const wayOut = others.includes(name)
      ? `Use \`runner.${way === 'on' ? 'observe' : 'on'}\` for this one.`
      : `Its events are ${names.join(', ')}.`
    const message = `\`runner.${way}\` has no event \`${event}\`. ${wayOut}`
    throw new BobbinError('E_INVALID_LISTENER', message, { event })
  }
  if (typeof listener === 'function') return
  const message = `The listener for \`${event}\` is not a function; pass \`(content, origin) => …\`.`
  throw new BobbinError('E_INVALID_LISTENER', message, { event })
}
