import type { Played } from './act.ts'
import { type Forecast, forecast, isForeseeable } from './calm-model.ts'
import { logOf } from './judge-outcome.ts'
import type { Command } from './program.ts'
import type { World } from './world.ts'

/** What the reference model says of a turn before it runs; nothing where it does not know. */
export async function foresee(
  { program, store }: World,
  conversation: string,
  command: Command,
): Promise<Forecast | undefined> {
  if (command.do !== 'run' || command.breakAfter !== undefined) return undefined
  if (command.disturbance !== undefined) return undefined
  const { settings, scripts } = program
  if (!isForeseeable(settings, command.steps, scripts)) return undefined
  const info = await store.conversation(conversation)
  if (info?.holder !== undefined) return undefined
  const settled = new Set<string>()
  const asked = new Set<string>()
  let isTainted = false
  for (const { kind, data } of await logOf(store, conversation)) {
    if (kind === 'settlement') settled.add(data['id'] as string)
    else if (kind === 'intent' || kind === 'history-item') asked.add(data.id)
    isTainted ||= JSON.stringify(data).includes('"trust":"third-party"')
  }
  // What an earlier turn left open is ended first, which is not part of the model.
  for (const id of asked) if (!settled.has(id)) return undefined
  return forecast(settings, command.steps, isTainted)
}

/** Holds a turn to what the reference model said. */
export function judgeForecast(
  { ledger }: World,
  said: Forecast | undefined,
  { end, command }: Played,
): void {
  if (said === undefined) return
  if (end.kind !== 'outcome') {
    ledger.faults.push(`a calm ${command.do} ended without an outcome: ${end.kind}`)
    return
  }
  const { status, reason, toolCalls } = end.outcome
  const calls = toolCalls.map(({ tool, settlement, editOf }) =>
    editOf === undefined ? `${tool} ${settlement}` : `${tool} as edited`,
  )
  const settled = said.calls.filter((call) => !call.endsWith(' waits'))
  const expected = shown(said.status, said.code, settled)
  const came = shown(status, reason?.code, calls)
  ledger.check(came === expected, `a calm turn came to ${came} instead of ${expected}`)
}

/** What a person changed stands last: it is announced when it is decided. */
function shown(status: string, code = '', calls: readonly string[] = []): string {
  const isEdited = (call: string) => call.endsWith(' as edited')
  const plain = calls.filter((call) => !isEdited(call))
  return `${status} ${code}: ${[...plain, ...calls.filter(isEdited).toSorted()].join()}`
}
