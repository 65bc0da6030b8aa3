import type { Gate } from '../../src/store/gate.ts'
import { eventRecorder, type RecordedEvent } from '../../src/testing/event-recorder.ts'
import type { GateAnswer } from '../../src/turn/gates/gate-answer.ts'
import type { TurnOutcome } from '../../src/turn/limits/outcome.ts'
import type { TurnRunner } from '../../src/turn/turn-runner.ts'
import { Life, storeOf } from './life.ts'
import type { Answer, Command, Disturbance } from './program.ts'
import { Readers } from './readers.ts'
import { runnerOf } from './stage.ts'
import type { World } from './world.ts'

/** A command that a process carries out. */
export type Acting = Extract<Command, { steps: unknown }>

/** What a command came to. */
export interface Played {
  readonly command: Acting
  readonly conversation: string
  readonly life: Life
  readonly events: readonly RecordedEvent[]
  readonly end: End
}

export type End =
  | { readonly kind: 'outcome'; readonly outcome: TurnOutcome }
  | { readonly kind: 'rejected'; readonly error: unknown }
  | { readonly kind: 'died' }
  | { readonly kind: 'hangs' }

/** Longer than any turn of a program takes, also on a busy machine. */
const PATIENCE_MS = 8_000

/** One process does what it is told with one conversation, until it ends or dies. */
export async function act(
  world: World,
  conversation: string,
  command: Acting,
  strike: (life: Life, what: Disturbance['what']) => void,
): Promise<Played> {
  const life = new Life(command.disturbance, strike)
  const readers = new Readers(world, conversation)
  const store = storeOf(world.store, life, (method, args) => {
    if (method === 'append') world.ledger.onAppend(args[0] as string, args[2] as never)
    if (method === 'acquire' && args[0] === conversation) readers.begin(store)
  })
  const runner = runnerOf(world, life, store, command.steps)
  const recorder = world.program.settings.isWatched ? eventRecorder(runner) : undefined
  const working = turnOf(world, runner, conversation, command, life).then(
    (outcome): End => ({ kind: 'outcome', outcome }),
    (error: unknown): End => ({ kind: 'rejected', error }),
  )
  const died = life.died.promise.then((): End => ({ kind: 'died' }))
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<End>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'hangs' }), PATIENCE_MS)
  })
  const end = await Promise.race([working, died, late])
  clearTimeout(timer)
  life.isOver = true
  recorder?.stop()
  // A process whose store failed, or that lost its conversation, may not have told its end.
  const hasTold = end.kind === 'outcome' && life.struck === undefined
  await readers.end(hasTold ? end.outcome.turnId : undefined)
  return { command, conversation, life, events: recorder?.events ?? [], end }
}

async function turnOf(
  world: World,
  runner: TurnRunner,
  conversation: string,
  command: Acting,
  { abort: { signal } }: Life,
): Promise<TurnOutcome> {
  if (command.do === 'recover')
    return runner.recover({ conversation, force: command.force, signal })
  if (command.do === 'resume') {
    const gates = await world.store.openGates(conversation)
    const decisions = answersTo(gates, command.answers)
    return runner.resume({ conversation, decisions, signal })
  }
  const input = { conversation, message: 'Go on.', signal }
  if (command.breakAfter === undefined) return runner.run(input)
  const turn = runner.run(input)
  let left = command.breakAfter
  for await (const event of turn) if (event.type === 'toolCall' && left-- === 0) break
  turn.abort()
  return turn
}

function answersTo(gates: readonly Gate[], answers: readonly Answer[]): GateAnswer[] {
  return gates.flatMap((gate, index) => {
    const answer = answers[index] ?? 'none'
    const yes = { gate: gate.id, approve: true, decidedBy: 'ann', digest: gate.digest }
    const all: Record<Answer, readonly unknown[]> = {
      approve: [yes],
      deny: [{ ...yes, approve: false, reason: 'no' }],
      edit: [{ ...yes, args: { n: 8, how: 'ok' } }],
      'edit badly': [{ ...yes, args: { n: 'x' } }],
      'wrong digest': [{ ...yes, digest: 'f'.repeat(64) }],
      forged: [{ ...yes, gate: `${gate.id}x` }],
      twice: [yes, { ...yes, approve: false }],
      'stray key': [{ ...yes, state: 'approved' }],
      'deny if open': gate.state === 'pending' ? [{ ...yes, approve: false }] : [],
      none: [],
    }
    return all[answer] as GateAnswer[]
  })
}
