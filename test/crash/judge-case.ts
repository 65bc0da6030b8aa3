import { canonicalStringify } from '../../src/core/json/canonical.ts'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { HistoryItem } from '../../src/records/history-item.ts'
import type { ToolCall } from '../../src/records/tool-call.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import type { CrashCase, Life } from './crash-case.ts'
import type { Effect } from './effects-server.ts'
import type { Remains } from './remains.ts'
import { ANSWER, CALLS } from './scripted-turn.ts'
import { type StorePlace, storeAt } from './store-at.ts'

/** Tools whose effect must not happen twice; nobody can ask the first two kinds what became of a call. */
const ONCE = ['post', 'charge', 'refund', 'transfer']
const DOUBTFUL = ['post', 'charge', 'refund']

/** Everything in which a disturbed case broke a promise, in words; nothing when it kept them all. */
export async function judgeCase(
  played: CrashCase,
  undisturbed: readonly ToolCall[],
): Promise<string[]> {
  const last = played.lives.at(-1)
  if (last === undefined) return ['no process was started']
  const { outcome } = played
  const problems = played.lives.flatMap(({ errors, end, act }) =>
    errors === '' ? [] : [`${act} ended with ${end}: ${errors}`],
  )
  if (outcome?.['status'] !== 'completed' || outcome['text'] !== ANSWER) {
    problems.push(`the outcome is ${JSON.stringify(outcome)}`)
  }
  problems.push(
    ...repeated(played.lives),
    ...played.lives.flatMap(({ remains }) => undeclared(remains)),
    ...multiplied(last.remains.effects),
    ...changed(last.remains, undisturbed),
    ...unexplained(played.lives, last.remains),
    ...last.remains.calls.flatMap((call) => silentDoubt(call, played)),
    ...untrue(last.remains),
    ...doubled(last.remains),
    ...played.requests.flatMap(({ violations }) => violations.map(({ message }) => message)),
    ...(await invalid(played.place)),
  )
  return problems
}

const count = (effects: readonly Effect[], id: string) =>
  effects.filter(({ call }) => call === id).length

/** A call whose completion is durable is never executed again. */
function repeated(lives: readonly Life[]): string[] {
  return lives.slice(1).flatMap(({ remains: { effects } }, index) => {
    const { calls, effects: before } = lives[index]?.remains ?? { calls: [], effects: [] }
    return calls
      .filter(({ id }) => count(effects, id) !== count(before, id))
      .map(({ id }) => `\`${id}\` was settled and ran again`)
  })
}

/** No handler starts before its intent is durable, unless it only reads. */
function undeclared({ entries, effects }: Remains): string[] {
  const intents = new Set(
    entries.flatMap((entry) => (entry.kind === 'intent' ? [entry.data.id] : [])),
  )
  return effects
    .filter(({ tool, call }) => !['look_up', 'report'].includes(tool) && !intents.has(call))
    .map(({ call }) => `\`${call}\` ran before its intent was durable`)
}

function multiplied(effects: readonly Effect[]): string[] {
  const keys = new Map<string, string>()
  return effects.flatMap(({ tool, call, key }) => {
    const problems: string[] = []
    if (ONCE.includes(tool) && count(effects, call) > 1) problems.push(`\`${call}\` ran twice`)
    if ((keys.get(call) ?? key) !== key) problems.push(`\`${call}\` ran under two keys`)
    keys.set(call, key)
    return problems
  })
}

/** Every record is the undisturbed run's, digest by digest, save for those that are in doubt. */
function changed({ calls }: Remains, undisturbed: readonly ToolCall[]): string[] {
  const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).sort()
  const problems: string[] = []
  if (ids(calls).join() !== ids(CALLS).join()) problems.push(`settled were ${ids(calls).join()}`)
  for (const call of calls) {
    const expected = undisturbed.find(({ id }) => id === call.id)
    if (call.settlement === 'in-doubt' && DOUBTFUL.includes(call.tool)) {
      if (call.checksum !== expected?.checksum) problems.push(`\`${call.id}\` is another call`)
    } else if (contentOf(call) !== contentOf(expected)) {
      const found = `${call.settlement} ${JSON.stringify(call.results)}`
      problems.push(`\`${call.id}\` has another digest than undisturbed: ${found}`)
    }
  }
  return problems
}

/** What the digest of a record covers. A gate has another id in every run, and the record of its call names it. */
function contentOf(call: ToolCall | undefined): string | undefined {
  if (call?.approvedBy === undefined) return call?.digest
  const record = JSON.parse(JSON.stringify(call)) as JsonObject
  return canonicalStringify({ ...record, approvedBy: { ...call.approvedBy, gate: 'a gate' } })
}

/** Nothing is called in doubt that had not begun in a process that died. */
function unexplained(lives: readonly Life[], { calls }: Remains): string[] {
  const doubted = calls.filter(({ settlement }) => settlement === 'in-doubt')
  return doubted
    .filter(
      ({ id }) =>
        !lives.some(({ end, remains }) => {
          const begun = remains.entries.some(
            (entry) => entry.kind === 'intent' && entry.data.id === id,
          )
          const settled = remains.calls.some((call) => call.id === id)
          return end === 'SIGKILL' && begun && !settled
        }),
    )
    .map(({ id }) => `\`${id}\` is in doubt without a reason`)
}

/** Operator and model both hear of a doubt: an event, a note in the log, a result. */
function silentDoubt({ id, settlement }: ToolCall, { lives, requests }: CrashCase): string[] {
  if (settlement !== 'in-doubt') return []
  const problems: string[] = []
  const isAbout = (value: unknown) => (value as { toolCallId?: string } | null)?.toolCallId === id
  const events = lives.flatMap(({ lines }) => lines)
  if (!events.some((line) => line['code'] === 'IN_DOUBT' && isAbout(line))) {
    problems.push(`no event tells that \`${id}\` is in doubt`)
  }
  const log = lives.at(-1)?.remains.entries ?? []
  if (!log.some(({ kind, data }) => kind === 'note' && isAbout(data['data']))) {
    problems.push(`no note tells that \`${id}\` is in doubt`)
  }
  const told = requests.some(({ body }) =>
    (body as { input: readonly Record<string, unknown>[] }).input.some(
      ({ type, call_id, output }) =>
        type === 'function_call_output' && call_id === id && String(output).includes('In doubt'),
    ),
  )
  if (!told) {
    problems.push(`the model was not told that \`${id}\` is in doubt`)
  }
  return problems
}

/** What is settled `ok` happened, and what was refused did not. */
function untrue({ calls, effects }: Remains): string[] {
  return calls.flatMap(({ id, tool, settlement }) => {
    const times = count(effects, id)
    // A nested turn does nothing by itself; its calls are judged like all others.
    if (settlement === 'ok' && times === 0 && tool !== 'delegate')
      return [`\`${id}\` is ok and never happened`]
    return settlement === 'refused' && times > 0 ? [`\`${id}\` is refused and happened`] : []
  })
}

/** One question and one answer, outside and inside, however often the turn began anew. */
function doubled({ entries }: Remains): string[] {
  const roles = entries.flatMap(({ kind, data }) =>
    kind === 'message' ? [(data as { role?: string }).role] : [],
  )
  return roles.join() === 'user,assistant,user,assistant'
    ? []
    : [`the messages are from ${roles.join()}`]
}

/** The log is whole, and every provider takes the history. */
async function invalid(place: StorePlace): Promise<string[]> {
  const store = storeAt(place)
  const report = await store.verify({ conversation: 'c' })
  const problems = report.faults.map(({ message }) => message)
  let items: readonly HistoryItem[] = []
  const reader = new TurnRunner({
    store,
    executor: async (ctx) => {
      items = [...ctx.items]
      return { answer: 'read' }
    },
  })
  await store
    .acquire('c', { owner: 'judge', force: true })
    .then(({ epoch }) => store.release('c', epoch))
  await reader.run({ conversation: 'c', message: 'And now?' })
  await store.close()
  if (items.length < CALLS.length) problems.push(`the history has ${items.length} items`)
  for (const { api } of providers) {
    const { encode, validate } = wire(api)
    for (const { message } of validate(encode(items))) problems.push(`${api}: ${message}`)
  }
  return problems
}
