import type { JsonObject } from '../../core/json/json.ts'
import type { Gate } from '../../store/gate.ts'
import type { GrantRequest } from '../../store/grant.ts'
import { nameText } from '../terminal/call-text.ts'
import { coverText, grantFor, isTaintGated } from './grant-text.ts'

const TRIES = 5

/** Asks which later calls an approval shall cover, and says so before it counts; `undefined` gives no grant. */
export async function askGrant(
  gate: Gate,
  whom: GrantRequest['for'],
  { ask, tell }: { ask(question: string): Promise<string>; tell(line: string): void },
): Promise<GrantRequest | undefined> {
  const { args = {}, tool = '' } = gate
  const names = Object.keys(args)
  if (isTaintGated(gate)) {
    tell('This conversation has read text of a stranger, who may have made the model ask for this.')
  }
  const listed =
    names.length === 0 ? '' : `, or members that must stay: ${names.map(nameText).join(', ')}`
  for (let tries = 0; tries < TRIES; tries++) {
    const said = (
      await ask(`  with [t]hese arguments only, [a]ny arguments${listed}; [b]ack: `)
    ).trim()
    if (/^b(ack)?$/i.test(said)) return undefined
    const members = membersIn(said, args)
    if (members === 'unknown') {
      tell(`Write t, a, b, or names such as \`${names.map(nameText).join(',')}\`.`)
      continue
    }
    const grant = grantFor(gate, whom, members)
    const { args: pattern = args, tainted = false } = grant
    const exact = members === undefined && { exact: true as const }
    tell(coverText({ tool, for: whom, args: pattern as JsonObject, tainted, ...exact }))
    tell('It ends when the tool changes, or with `bobbin grants revoke`.')
    if (/^y(es)?$/i.test((await ask('  [y]es, [n]o: ')).trim())) return grant
  }
  return undefined
}

function membersIn(said: string, args: object): readonly string[] | undefined | 'unknown' {
  if (/^t(hese)?$/i.test(said) && !Object.hasOwn(args, said)) return undefined
  if (/^a(ny)?$/i.test(said) && !Object.hasOwn(args, said)) return []
  const names = said.split(',').map((name) => name.trim())
  return names.every((name) => Object.hasOwn(args, name)) ? names : 'unknown'
}
