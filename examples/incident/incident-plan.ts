import type { ToolCall } from 'bobbin-adk'
import { INCIDENT } from './facts.ts'
import type { Plan } from './plan-executor.ts'
import { rowsOf, tally, textOf } from './read-answers.ts'

const { service } = INCIDENT

/** What an executor of rules says of itself before anything else. */
export const HONESTLY =
  'I am a handful of rules, not a language model: I run offline and know this one incident’s tools.'

/** The four sources, asked for at once; each is far too big for a prompt. */
export const SOURCES = [
  { tool: 'read_log', args: { service } },
  { tool: 'list_deploys', args: {} },
  { tool: 'list_hosts', args: {} },
  { tool: 'read_runbook', args: {} },
] as const

/** Finds out why the service fails, from symptom to cause to remedy. */
export async function* incidentPlan(): Plan {
  const sources = yield {
    say: `${HONESTLY} First I gather what there is.`,
    calls: [...SOURCES],
  }
  const missing = sources.find(({ settlement }) => settlement !== 'ok')
  if (missing !== undefined) {
    return `Without \`${missing.tool}\` I cannot tell: ${await textOf(missing)}`
  }
  const [log, deploys, hosts, runbook] = sources
  const seen = yield* readSymptom(log)
  const cause = yield* findDeploy(deploys, hosts, seen.version)
  const [headings] = yield {
    say: 'Does the runbook know the symptom?',
    calls: [query('artifact_markdown_headings', runbook)],
  }
  const heading = headingFor(await textOf(headings), seen.kind)
  const [section] = yield {
    calls: [query('artifact_markdown_section', runbook, { heading })],
  }
  const advice = adviceOf(await textOf(section))
  const guarded = yield* watchHealth()
  const [rollback] = yield {
    say: `${guarded}The runbook says: ${advice} That changes something, so a person must approve it.`,
    calls: [{ tool: 'roll_back', args: { service, to: cause.previous } }],
  }
  const isBack = rollback?.settlement === 'ok'
  const health = isBack ? yield* checkAfter() : 'unchanged'
  return answer({ ...seen, ...cause, advice, isBack, health })
}

const query = (tool: string, call: ToolCall | undefined, args: object = {}) => ({
  tool,
  args: { callId: call?.id ?? '', ...args },
})

interface Symptom {
  readonly kind: string
  readonly since: string
  readonly version: string
  readonly failing: ReadonlySet<string>
}

/** From noon on: what fails, where, since when. */
async function* readSymptom(log: ToolCall | undefined): Plan<Symptom> {
  const [errors] = yield {
    say: 'The outputs stay on the spool; I got handles. Now the log at noon:',
    calls: [query('artifact_grep', log, { pattern: 'T12:0[0-4].* ERROR ', limit: 100 })],
  }
  const rows = rowsOf(await textOf(errors))
  const kinds = rows.map(({ text }) => text.replace(/^.* req=\S+ /, '').replace(/ \(.*$/, ''))
  const [kind = INCIDENT.fault, count = 0] = tally(kinds)[0] ?? []
  const [first] = yield {
    say: `${count} of the first ${rows.length} errors are “${kind}”. Since when?`,
    calls: [query('artifact_grep', log, { pattern: kind, literal: true, limit: 1, context: 1 })],
  }
  const firstLine = (await textOf(first)).split('\n').find((line) => line.includes(kind)) ?? ''
  const version = /version=(\S+)/.exec(rows.map(({ text }) => text).join('\n'))?.[1] ?? ''
  const since = /T(\d\d:\d\d:\d\d)/.exec(firstLine)?.[1] ?? 'noon'
  const failing = new Set(rows.filter(({ text }) => text.includes(kind)).map(hostOf))
  return { kind, since, version, failing }
}

const hostOf = ({ text }: { readonly text: string }) => /ERROR (\S+)/.exec(text)?.[1] ?? ''

interface Cause extends Deploy {
  readonly machines: readonly string[]
  readonly regions: readonly string[]
}

/** Which deploy brought the version, and whether the failing hosts are the ones that run it. */
async function* findDeploy(
  deploys: ToolCall | undefined,
  hosts: ToolCall | undefined,
  version: string,
): Plan<Cause> {
  const condition = { operator: 'equals', value: version }
  const [found, running] = yield {
    say: `All of them name version ${version}. Who deployed it, and where does it run?`,
    calls: [
      query('artifact_json_filter', deploys, { field: 'version', ...condition }),
      query('artifact_table_filter', hosts, {
        column: 'version',
        ...condition,
        columns: ['host', 'region'],
        limit: 500,
      }),
      query('artifact_table_count', hosts, { column: 'version' }),
    ],
  }
  const place = rowsOf(await textOf(found)).at(-1)?.position ?? 0
  const [whole] = yield {
    calls: [query('artifact_json_get', deploys, { path: `[${place}]` })],
  }
  const deploy = readDeploy(await textOf(whole))
  const machines = rowsOf(await textOf(running)).map(({ text }) => text.split(' | '))
  const regions = tally(machines.map(([, region = '']) => region)).map(([region]) => region)
  return { ...deploy, machines: machines.map(([host = '']) => host), regions }
}

interface Deploy {
  readonly id: string
  readonly author: string
  readonly finishedAt: string
  readonly previous: string
  readonly change: string
}

function readDeploy(text: string): Deploy {
  const given = JSON.parse(text) as Omit<Deploy, 'change'> & {
    readonly changes?: readonly { readonly message: string }[]
  }
  const { id, author, finishedAt, previous, changes = [] } = given
  return { id, author, finishedAt, previous, change: changes.at(-1)?.message ?? 'unknown' }
}

/** The heading that has the most words of the symptom. */
function headingFor(headings: string, kind: string): string {
  const words = kind.toLowerCase().match(/[a-z]{4,}/g) ?? []
  const score = (text: string) => words.filter((word) => text.toLowerCase().includes(word)).length
  const texts = rowsOf(headings).map(({ text }) => text.replace(/^#+ /, ''))
  return texts.sort((a, b) => score(b) - score(a))[0] ?? ''
}

function adviceOf(section: string): string {
  const step = rowsOf(section).find(({ text }) => text.startsWith('2. '))
  return (step?.text ?? 'no advice').replace(/^2\. /, '')
}

/** Looks again and again, as impatient callers do, until the guard refuses. */
async function* watchHealth(): Plan {
  const look = { tool: 'check_health', args: { service } }
  yield { say: 'Is it still failing?', calls: [look] }
  yield { say: 'Still failing. I look again, with the very same call.', calls: [look] }
  const [last] = yield { say: 'And once more:', calls: [look] }
  return last?.settlement === 'refused'
    ? 'The guard refused that: nothing could have changed. '
    : ''
}

async function* checkAfter(): Plan {
  const args = { service, after: 'rollback' }
  const [check] = yield {
    say: 'Rolled back. Did it help?',
    calls: [{ tool: 'check_health', args }],
  }
  const text = await textOf(check)
  return (JSON.parse(text) as { readonly status: string }).status
}

interface Findings extends Symptom, Cause {
  readonly advice: string
  readonly isBack: boolean
  readonly health: string
}

function answer(found: Findings): string {
  const { kind, since, version, failing, machines, regions, isBack, health } = found
  const known = new Set(machines)
  const strays = [...failing].filter((host) => !known.has(host)).length
  const where = `${machines.length} hosts in ${regions.join(', ')} that run ${version}`
  const match =
    strays === 0 ? 'every failing host is one of them' : `${strays} failing hosts are not`
  return [
    `${service} fails since ${since} with “${kind}”, on the ${where}; ${match}.`,
    `Cause: deploy ${found.id} by ${found.author} at ${found.finishedAt.slice(11, 19)}: “${found.change}”.`,
    isBack
      ? `It was rolled back to ${found.previous}; ${service} is ${health} now. Next: tell ${found.author}.`
      : `Nothing was changed: the rollback to ${found.previous} was not approved. ${found.advice}`,
  ].join('\n')
}
