import type { ToolCall } from '../../src/records/tool-call.ts'
import { type CrashCase, type CrashLab, pointsOf } from './crash-case.ts'
import { judgeCase } from './judge-case.ts'
import { type CrashState, factsKey, NO_STATE, stateAfter, stateKey } from './remains.ts'
import { CALLS } from './scripted-turn.ts'

/** What an exploration found. */
export interface Exploration {
  /** How many cases there were, by how many processes had died in them. */
  readonly cases: readonly number[]
  /** What was broken, by where the processes died. */
  readonly problems: Readonly<Record<string, readonly string[]>>
}

interface Node {
  readonly played: CrashCase
  /** Where its processes died. */
  readonly deaths: readonly string[]
}

const WORKERS = 2

/**
 * Kills the turn, its recovery and the recovery of its recovery. All that matters to the next process is what
 * it can find out, and calls do not know of one another. So a turn dies once in every state that it
 * passes through; a recovery dies once at each of its steps from each state in which the call of that
 * step can be; and a recovery of a recovery once at every kind of step.
 */
export async function explore(
  lab: CrashLab,
  expected: readonly ToolCall[],
  options: {
    /** Kills only every n-th recovery of those that there are to kill. */
    readonly everyNthRecovery?: number
  } = {},
): Promise<Exploration> {
  const { everyNthRecovery = 1 } = options
  const seen = new Set<string>()
  const problems: Record<string, readonly string[]> = {}
  const cases: number[] = []
  let scopes = 0
  let recoveries = 0
  const isNew = (key: string) => !seen.has(key) && seen.add(key) !== undefined

  /** Goes on to the end and judges; gives what is left wherever a process may die or stop on the way. */
  const visit = async ({ played, deaths }: Node): Promise<readonly Node[]> => {
    const found: Node[] = []
    const copy = () => {
      const scope = `${++scopes}`
      return played.lives.length === 0 ? lab.begin(scope) : lab.copy(played, scope)
    }
    const stopped = await lab.live(await copy(), 0)
    const life = stopped.lives.at(-1)
    // What waits for a decision goes on in a process of its own, which may die too.
    if (stopped.next !== undefined && isNew(`${stopped.next} ${stateKey(stateOf(stopped))}`)) {
      found.push({ played: await lab.copy(stopped, `${++scopes}`), deaths })
    }
    const finished = await lab.finish(stopped)
    const broken = await judgeCase(finished, expected)
    if (broken.length > 0) problems[deaths.join(' > ')] = broken
    await lab.drop(finished)
    const start = stateOf(played)
    let state = start
    for (const [index, label] of (life === undefined ? [] : pointsOf(life)).entries()) {
      state = stateAfter(state, label)
      if (deaths.length > 0 && isOrdinary(start, state)) continue
      if (!isNew(deathKey(start, state, label, deaths.length))) continue
      if (deaths.length > 0 && recoveries++ % everyNthRecovery !== 0) continue
      const dead = await lab.live(await copy(), index + 1)
      if (dead.lives.at(-1)?.end !== 'SIGKILL') problems[label] = ['nobody died']
      found.push({ played: dead, deaths: [...deaths, label] })
    }
    await lab.drop(played)
    return found
  }

  /** What also happens in a turn that nobody has killed was tried there. */
  const isOrdinary = (start: CrashState, state: CrashState) =>
    factsKey(state) !== factsKey(start) && seen.has(`0 ${factsKey(state)}`)

  let nodes: Node[] = [{ played: lab.begin('start'), deaths: [] }]
  while (nodes.length > 0) {
    const queue = nodes.values()
    const next: Node[] = []
    const work = async () => {
      for (const node of queue) {
        cases[node.deaths.length] = (cases[node.deaths.length] ?? 0) + 1
        next.push(...(await visit(node)))
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    nodes = next
  }
  return { cases, problems }
}

const stateOf = ({ lives }: CrashCase) => lives.at(-1)?.remains.state ?? NO_STATE

/** Two deaths with the same key are one and the same to whoever comes next. */
function deathKey(start: CrashState, state: CrashState, label: string, deaths: number): string {
  if (deaths === 0) return `0 ${factsKey(state)}`
  const step = label.replaceAll(/call_\d+/g, toolOf)
  if (deaths > 1) return `2 ${step}`
  // A turn that only began changes what the next one reads out of the end of the log.
  if (label === 'after append c turn-start') return `1 ${step} from ${openFacts(start).join()}`
  return `1 ${step} from ${localFacts(start, label.match(/call_\d+/g) ?? []).join()}`
}

const toolOf = (id: string) => CALLS.find((call) => call.id === id)?.tool ?? id

/** What is known of some calls. */
function localFacts({ facts }: CrashState, calls: readonly string[]): readonly string[] {
  const isAbout = (fact: string) => calls.some((call) => fact.endsWith(` ${call}`))
  return [...facts]
    .filter(isAbout)
    .map((fact) => fact.replace(/call_\d+/, toolOf))
    .sort()
}

/** What is known of the calls that are not settled, and of everything that is no call. */
function openFacts(state: CrashState): readonly string[] {
  const ids = CALLS.map(({ id }) => id)
  const facts = [...state.facts]
  const open = ids.filter((id) => !facts.some((fact) => fact.endsWith(`settlement ${id}`)))
  const others = facts.filter((fact) => !/call_\d+/.test(fact))
  return [...localFacts(state, open), ...others.sort()]
}
