import { systemClock } from '../../core/clock.ts'
import { randomId } from '../../core/ids.ts'
import type { JsonValue } from '../../core/json/json.ts'
import type { Gate } from '../../store/gate.ts'
import type { Store } from '../../store/store.ts'
import { ToolRegistry } from '../../tools/tool-registry.ts'
import { decisionsOf, type GateAnswer } from '../../turn/gates/gate-answer.ts'
import { timeText } from '../calls/stored-call.ts'
import { command, type Values } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { gateLine, personAt, questionLines } from '../run/approval-prompt.ts'
import { coverText, grantFor, mayGrant } from '../run/grant-text.ts'
import { nameText, oneLine } from '../terminal/call-text.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { Screen } from '../terminal/screen.ts'
import { writeJson } from '../terminal/write-json.ts'

const PAGE = 500
const SHOWN = 2000

const OPTIONS = {
  by: { type: 'string', value: 'NAME', help: 'Who decides; the user of the terminal unless given' },
  value: { type: 'string', value: 'JSON', help: 'The answer, or the result of the call' },
  error: { type: 'string', value: 'TEXT', help: 'Why the call gave no result' },
  args: { type: 'string', value: 'JSON', help: 'Approve these arguments instead' },
  reason: { type: 'string', value: 'TEXT', help: 'What the model reads after a refusal' },
  grant: {
    type: 'string',
    value: 'ARGS',
    help: 'Approve later calls of this conversation too: `these` arguments, `any`, or members that must stay: `to,sum`',
  },
  uses: { type: 'string', value: 'N', help: 'At most so many later calls' },
  until: { type: 'string', value: 'TIME', help: 'Later calls until then, such as 2027-01-31' },
  conversation: {
    type: 'string',
    short: 'c',
    value: 'ID',
    help: 'Only gates of this conversation',
  },
  ...STORE_OPTIONS,
} as const

type GateValues = Values<typeof OPTIONS>

/** What each word on the command line answers. */
const ANSWERS: Readonly<Record<string, (values: GateValues, gate: Gate) => object>> = {
  approve: ({ args, grant, ...rest }, gate) => ({
    approve: true,
    ...(args !== undefined && { args: jsonIn('--args', args) }),
    ...(grant !== undefined && { grant: grantIn(grant, rest, gate) }),
  }),
  deny: ({ reason }) => ({ approve: false, ...(reason !== undefined && { reason }) }),
  answer: ({ value }) => ({ value: jsonIn('--value', value) }),
  done: () => ({ done: true }),
  result: ({ value, error }) =>
    error === undefined ? { result: jsonIn('--value', value) } : { error },
}

export const gates = command({
  name: 'gates',
  usage: [
    'gates',
    'gates approve GATE',
    'gates deny GATE',
    'gates answer GATE --value JSON',
    'gates done GATE',
    'gates result GATE --value JSON',
  ],
  about:
    'Lists what waits for a person or another system, and answers it. The turn continues with `bobbin run --resume CONVERSATION`, or where the application calls `resume`.',
  options: OPTIONS,
  run: ({ values, positionals: [form = 'list', id, extra] }, io) => {
    const answer = Object.hasOwn(ANSWERS, form) ? ANSWERS[form] : undefined
    if (form !== 'list' && answer === undefined) {
      const known = Object.keys(ANSWERS).join(', ')
      throw usageError(`\`bobbin gates ${form}\` is not known: use list, ${known}.`, 'gates')
    }
    if (answer !== undefined && (id === undefined || extra !== undefined)) {
      throw usageError(`\`bobbin gates ${form}\` needs the id of one gate.`, 'gates')
    }
    return withStore(values, io, { create: false }, async (store) => {
      const { conversation } = values
      const place =
        conversation === undefined ? undefined : (await findConversation(store, conversation)).id
      if (answer === undefined) return listGates(store, place, values, io)
      const gate = await findGate(store, id ?? '', place)
      const decidedBy = values.by ?? personAt(io)
      const given = { gate: gate.id, decidedBy, digest: gate.digest, ...answer(values, gate) }
      return decide(store, gate, given as GateAnswer, values, io)
    })
  },
})

async function decide(
  store: Store,
  { conversation, id }: Gate,
  answer: GateAnswer,
  values: GateValues,
  io: Io,
): Promise<number> {
  // The tools are where the turn runs; they check edited arguments again before these run.
  const rules = { store, tools: new ToolRegistry([]), clock: systemClock, ids: randomId }
  const checked = await decisionsOf({ ...rules, subject: undefined }, conversation, [answer])
  const { decision } = checked.get(id) ?? {}
  if (decision === undefined) return EXIT.failed
  const decided = await store.decideGate(conversation, id, decision)
  if (values.json === true) {
    writeJson(io, decided)
    return EXIT.ok
  }
  const who = nameText(decided.decision?.decidedBy ?? '')
  const given = decided.decision?.grant
  io.stdout.write(`Gate ${nameText(id)} is ${decided.state} by ${who}.\n`)
  if (given !== undefined) {
    const { args = decided.args ?? {}, tainted = false } = given
    const exact = given.args === undefined && { exact: true as const }
    const about = { tool: decided.tool ?? '', for: given.for, args, tainted, ...exact }
    io.stdout.write(`${coverText(about)}\n`)
    io.stdout.write(`\`bobbin grants revoke ${nameText(given.id)}\` ends that.\n`)
  }
  io.stdout.write(`\`bobbin run --resume ${nameText(conversation)}\` continues the turn.\n`)
  return EXIT.ok
}

async function listGates(
  store: Store,
  conversation: string | undefined,
  values: GateValues,
  io: Io,
): Promise<number> {
  const screen = new Screen(io)
  const paint = paintFor(io)
  let isEmpty = true
  for await (const gate of eachGate(store, conversation)) {
    isEmpty = false
    if (values.json === true) {
      writeJson(io, gate)
      continue
    }
    const until = timeText(new Date(gate.expiresAt).toISOString())
    const place = `${nameText(gate.conversation)}  ${gate.kind}, ${gate.state}, until ${until}`
    screen.line(`${paint.bold(nameText(gate.id))}  ${place}`)
    screen.line(`  ${oneLine(gateLine(gate, paint), SHOWN)}`)
    for (const text of questionLines(gate)) screen.line(`  ${oneLine(text, SHOWN)}`)
    screen.line(`  ${paint.dim(gate.why)}`)
  }
  if (isEmpty && values.json !== true) io.stderr.write('Nothing waits for a decision.\n')
  return EXIT.ok
}

async function* eachGate(store: Store, conversation: string | undefined): AsyncGenerator<Gate> {
  let after: Gate | undefined
  for (;;) {
    const page = await store.openGates(conversation, { limit: PAGE, ...(after && { after }) })
    yield* page
    after = page.at(-1)
    if (page.length < PAGE) return
  }
}

/** The gate under an id or the beginning of one. A call that ended without its result still takes one. */
async function findGate(
  store: Store,
  wanted: string,
  conversation: string | undefined,
): Promise<Gate> {
  const matches: Gate[] = []
  for await (const gate of eachGate(store, conversation)) {
    if (gate.id === wanted) return gate
    if (gate.id.startsWith(wanted)) matches.push(gate)
  }
  const [only] = matches
  if (only !== undefined && matches.length === 1) return only
  const closed = conversation === undefined ? undefined : await store.gate(conversation, wanted)
  if (closed !== undefined) return closed
  throw usageError(
    only === undefined
      ? `Unknown gate \`${wanted}\`: \`bobbin gates\` lists those that wait. For a closed one, pass its \`--conversation\`.`
      : `${matches.length} gates begin with \`${wanted}\`: write more of the id.`,
  )
}

function jsonIn(option: string, text: string | undefined): JsonValue {
  if (text === undefined) throw usageError(`\`${option}\` is missing: it takes JSON.`, 'gates')
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw usageError(`\`${option}\` is not JSON. A text needs its own quotes: '"text"'.`, 'gates')
  }
}

function grantIn(
  text: string,
  { uses, until }: Pick<GateValues, 'uses' | 'until'>,
  gate: Gate,
): object {
  if (!mayGrant(gate)) throw usageError('This gate takes no `--grant`.', 'gates')
  const names = text === 'any' ? [] : text.split(',').map((name) => name.trim())
  const members = text === 'these' ? undefined : names
  const stray = members?.find((name) => !Object.hasOwn(gate.args ?? {}, name))
  if (stray !== undefined) {
    throw usageError(`\`--grant\`: the call has no argument \`${stray}\`.`, 'gates')
  }
  const time = until === undefined ? undefined : Date.parse(until)
  if (Number.isNaN(time)) throw usageError('`--until` needs a time, such as 2027-01-31.', 'gates')
  return {
    ...grantFor(gate, 'conversation', members),
    ...(uses !== undefined && { uses: Number(uses) }),
    ...(time !== undefined && { until: time }),
  }
}
