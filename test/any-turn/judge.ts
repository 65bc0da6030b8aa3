import { isBobbinError } from '../../src/core/error/error.ts'
import { conversationKey } from '../../src/store/conversation-key.ts'
import type { Store } from '../../src/store/store.ts'
import { act, type Played } from './act.ts'
import { forgetFolds, judgeFold } from './judge-fold.ts'
import { judgeOutcome, logOf } from './judge-outcome.ts'
import { conversationsOf } from './ledger.ts'
import type { Command } from './program.ts'
import { judgeRequests } from './recording.ts'
import { SECRET, type World } from './world.ts'

/** Looks at what a command, and whoever came between, left behind. */
export async function judge(world: World, all: readonly Played[]): Promise<void> {
  const { ledger, store } = world
  const [first] = all as [Played, ...Played[]]
  const { conversation } = first
  const prefix = conversation
  for (const played of all) {
    await judgeEndOf(world, played, all.length > 1)
  }
  const isTroubled = all.some(({ life }) => life.isDead || life.struck?.startsWith('fault'))
  if (isTroubled) world.troubled.add(conversation)
  for (const id of await conversationsOf(store, prefix)) {
    const { faults } = await store.verify({ conversation: id, ...keyOf(world, id) })
    for (const { message } of faults) ledger.faults.push(`${id} does not verify: ${message}`)
    await judgeRequests(ledger, store, id, keyOf(world, id))
    // What a process that died had under way may take effect later, and shows itself only then.
    const isNews = world.troubled.has(conversation) && !world.wasFree.has(id)
    const mayBeHeld = isTroubled || isNews || world.isLeftHeld.has(id)
    // A turn inside one that was aborted is left behind, and gives its conversation free when it notices.
    const isFree = await isFreeSoon(store, id, mayBeHeld || id === conversation ? 0 : 1_000)
    ledger.check(isFree || mayBeHeld, `${id} is still held`)
    if (isFree) {
      world.isLeftHeld.delete(id)
      world.wasFree.add(id)
    } else world.isLeftHeld.add(id)
  }
  const isAlone = all.length === 1 && !first.life.isDead && !first.life.isRivalled
  if (isAlone) await judgeFold(ledger, store, conversation, (id) => keyOf(world, id).key)
  else forgetFolds(conversation)
}

async function isFreeSoon(store: Store, id: string, ms: number): Promise<boolean> {
  for (const until = Date.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 1))) {
    if ((await store.conversation(id))?.holder === undefined) return true
    if (Date.now() >= until) return false
  }
}

/** A store holds no key where the application derives it. */
function keyOf({ program }: World, conversation: string): { key?: Uint8Array } {
  return program.settings.hasSecret ? { key: conversationKey(SECRET, conversation) } : {}
}

async function judgeEndOf(world: World, played: Played, isRivalled: boolean): Promise<void> {
  const { ledger } = world
  const { end, life, command, conversation } = played
  const name = `${command.do} on ${conversation}`
  if (end.kind === 'hangs') ledger.faults.push(`${name} does not end`)
  if (end.kind === 'rejected') {
    const { error } = end
    const isFault = isBobbinError(error, 'E_STORE_UNAVAILABLE') && life.struck !== undefined
    const isExpected = REJECTIONS[command.do].some((code) => isBobbinError(error, code))
    ledger.check(isFault || isExpected, `${name} rejected: ${String(error)}`)
  }
  if (end.kind === 'outcome') await judgeOutcome(world, played, end.outcome, isRivalled)
}

const REJECTIONS = {
  run: ['E_CONVERSATION_BUSY'],
  resume: ['E_CONVERSATION_BUSY', 'E_NOT_FOUND', 'E_GATE_STATE', 'E_INVALID_DECISION'],
  recover: ['E_CONVERSATION_BUSY', 'E_NOT_FOUND'],
} as const

/** Brings everything to an end with a healthy process: nothing is stuck, lost or left over. */
export async function judgeEnd(world: World, prefix: string): Promise<void> {
  const { ledger, store } = world
  const calm: World = { ...world, program: calmProgram(world) }
  for (const on of [0, 1]) {
    const conversation = `${prefix}${on}`
    if ((await store.conversation(conversation)) === undefined) continue
    const common = { on, steps: [], disturbance: undefined }
    const step = async (command: Command) => {
      const played = await act(calm, conversation, command as never, () => {})
      await judge(calm, [played])
      if (played.end.kind === 'outcome') return played.end.outcome
      ledger.faults.push(`${command.do} at the end: ${JSON.stringify(played.end)}`)
      return undefined
    }
    let outcome = await step({ ...common, do: 'recover', force: true })
    // What is run again may halt its turn once more.
    for (let n = 0; n < 8 && outcome?.status === 'aborted'; n++) {
      outcome = await step({ ...common, do: 'recover', force: true })
    }
    for (let n = 0; n < 8 && outcome?.status === 'suspended'; n++) {
      outcome = await step({ ...common, do: 'resume', answers: Array(40).fill('deny if open') })
    }
    // Limits count over a turn and all that continues it: only a new turn goes on after one.
    const ends = ['NOTHING_LEFT', 'MAX_TIME', 'MAX_ITERATIONS', 'MAX_CALLS']
    const expected = outcome?.status === 'completed' || ends.includes(outcome?.reason?.code ?? '')
    ledger.check(expected, `${conversation} is stuck: ${outcome?.status} ${outcome?.reason?.code}`)
    outcome = await step({ ...common, do: 'run', breakAfter: undefined })
    ledger.check(outcome?.status === 'completed', `${conversation} cannot go on`)
    if (ledger.faults.length > 0) return
    for (const id of await conversationsOf(store, conversation)) await judgeRest(world, id)
  }
  // What a process that died had not filled yet is held until its time is over.
  world.clock.advance(31_000)
  for (const on of [0, 1]) await store.delete(`${prefix}${on}`)
  const left = await conversationsOf(store, prefix)
  ledger.check(left.length === 0, `left after deletion: ${left.join()}`)
}

const calmProgram = ({ program }: World) => ({
  ...program,
  scripts: [[]],
  settings: {
    ...program.settings,
    layers: [],
    approve: undefined,
    maxTokens: undefined,
    limits: { calls: 200, iterations: 20 },
  },
})

/** Nothing of a conversation is open any more, and every doubt was told. */
async function judgeRest({ ledger, store }: World, conversation: string): Promise<void> {
  for (const { id, state } of await store.openGates(conversation)) {
    ledger.faults.push(`${id} of ${conversation} is open for ever (${state})`)
  }
  const log = await logOf(store, conversation)
  const settled = new Set<unknown>()
  const told = new Set<unknown>()
  for (const { kind, data } of log) {
    if (kind === 'settlement') settled.add(data['id'])
    if (kind !== 'note' || data.code !== 'IN_DOUBT') continue
    told.add((data.data as { readonly toolCallId?: string }).toolCallId)
  }
  for (const { kind, data } of log) {
    const isAsked = kind === 'intent' || (kind === 'history-item' && data.type === 'call')
    const id = String((data as { readonly id?: string }).id)
    ledger.check(!isAsked || settled.has(id), `${id} of ${conversation} has no record at the end`)
    const isDoubt = kind === 'settlement' && data['settlement'] === 'in-doubt'
    ledger.check(!isDoubt || told.has(id), `the doubt about ${id} of ${conversation} was not told`)
  }
}
