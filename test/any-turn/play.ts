import type { Store } from '../../src/store/store.ts'
import type { TestClock } from '../../src/testing/store/test-clock.ts'
import { type Acting, act, type End, type Played } from './act.ts'
import { foresee, judgeForecast } from './foresee.ts'
import { judge, judgeEnd } from './judge.ts'
import { Ledger } from './ledger.ts'
import type { Life } from './life.ts'
import type { Command, Disturbance, Program } from './program.ts'
import type { World } from './world.ts'

/** Where a program is played. */
interface Place {
  readonly store: Store
  /** The store's clock too. */
  readonly clock: TestClock
  /** How the names of its conversations begin. */
  readonly prefix: string
}

/** Plays a program; gives what does not hold. */
export async function play(
  program: Program,
  { store, clock, prefix }: Place,
): Promise<readonly string[]> {
  let ids = 0
  const world: World = {
    program,
    store,
    clock,
    ledger: new Ledger(),
    ids: () => `${prefix}id${ids++}`,
    positions: new Map(),
    isLeftHeld: new Set(),
    wasFree: new Set(),
    troubled: new Set(),
    edition: 1,
  }
  for (const command of program.commands) {
    await obey(world, prefix, command)
    if (world.ledger.faults.length > 0) return world.ledger.faults
  }
  await judgeEnd(world, prefix)
  return world.ledger.faults
}

async function obey(world: World, prefix: string, command: Command): Promise<void> {
  if (command.do === 'wait') return world.clock.advance(command.ms)
  if (command.do === 'retool') return void world.edition++
  const conversation = `${prefix}${command.on}`
  if (command.do === 'delete') {
    await world.store.delete(conversation)
    world.ledger.forget(conversation)
    return
  }
  const others: Promise<Played>[] = []
  const strike = (life: Life, what: Disturbance['what']) =>
    void others.push(comeBetween(world, conversation, life, what))
  const said = await foresee(world, conversation, command)
  const played = await act(world, conversation, command, strike)
  judgeForecast(world, said, played)
  const all = [played, ...(await Promise.all(others))]
  await judge(world, all)
  // What a turn still began once its conversation was gone is nothing of one that takes the name.
  const isGone = (await world.store.conversation(conversation)) === undefined
  if (isGone) world.ledger.forget(conversation)
}

/** Somebody else does something with the conversation of a turn that runs. */
function comeBetween(
  world: World,
  conversation: string,
  life: Life,
  what: Disturbance['what'],
): Promise<Played> {
  const rival = (command: Command) => act(world, conversation, command as Acting, () => {})
  const call = { tool: 'pay', n: 5, how: 'ok', id: 'call_0', args: 'good' } as const
  const steps = [{ kind: 'calls', calls: [call] }] as const
  const common = { on: 0, steps, disturbance: undefined }
  if (what === 'rival run') return rival({ ...common, do: 'run', breakAfter: undefined })
  if (what === 'rival force') return rival({ ...common, do: 'recover', force: true })
  if (what === 'rival resume') {
    return rival({ ...common, do: 'resume', answers: ['approve', 'deny', 'approve'] })
  }
  const deleted = world.store.delete(conversation).then(() => world.ledger.forget(conversation))
  const end: End = { kind: 'died' }
  const command = { ...common, do: 'recover', force: true } as const
  return deleted.then(() => ({ command, conversation, life, events: [], end }))
}
