import type { Grant } from '../../store/grant.ts'
import type { Store } from '../../store/store.ts'
import { timeText } from '../calls/stored-call.ts'
import { command } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { personAt } from '../run/approval-prompt.ts'
import { coverText } from '../run/grant-text.ts'
import { nameText } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { Screen } from '../terminal/screen.ts'
import { writeJson } from '../terminal/write-json.ts'

const PAGE = 500

export const grants = command({
  name: 'grants',
  usage: ['grants', 'grants revoke GRANT'],
  about:
    'Lists standing approvals, revoked and used-up ones too, and ends one. Calls that it covered then wait for a person again.',
  options: {
    by: {
      type: 'string',
      value: 'NAME',
      help: 'Who revokes it; the user of the terminal unless given',
    },
    conversation: {
      type: 'string',
      short: 'c',
      value: 'ID',
      help: 'Only those for this conversation',
    },
    subject: { type: 'string', value: 'TEXT', help: 'Only those for this subject' },
    tool: { type: 'string', value: 'NAME', help: 'Only those for this tool' },
    ...STORE_OPTIONS,
  },
  run: ({ values, positionals: [form = 'list', id, extra] }, io) => {
    const isKnown = form === 'list' || form === 'revoke'
    if (!isKnown) {
      throw usageError(`\`bobbin grants ${form}\` is not known: use list or revoke.`, 'grants')
    }
    if (form === 'revoke' && (id === undefined || extra !== undefined)) {
      throw usageError('`bobbin grants revoke` needs the id of one grant.', 'grants')
    }
    return withStore(values, io, { create: false }, async (store) => {
      if (form === 'revoke') {
        const grant = await findGrant(store, id ?? '')
        const revoked = await store.revokeGrant(grant.id, { decidedBy: values.by ?? personAt(io) })
        if (values.json === true) writeJson(io, revoked)
        else io.stdout.write(`Grant ${nameText(revoked.id)} is ${stateOf(revoked)}.\n`)
        return EXIT.ok
      }
      const { conversation, subject, tool } = values
      const found =
        conversation === undefined ? undefined : await findConversation(store, conversation)
      const query = {
        ...(found && { conversation: found.id }),
        ...(subject !== undefined && { subject }),
        ...(tool !== undefined && { tool }),
      }
      const screen = new Screen(io)
      const paint = paintFor(io)
      let isEmpty = true
      for await (const grant of eachGrant(store, query)) {
        isEmpty = false
        if (values.json === true) {
          writeJson(io, grant)
          continue
        }
        screen.line(`${paint.bold(nameText(grant.id))}  ${stateOf(grant)}`)
        screen.line(`  ${coverText(grant)}`)
        const { decidedBy, createdAt, given } = grant
        const at = timeText(new Date(createdAt).toISOString())
        screen.line(
          paint.dim(`  given by ${nameText(decidedBy)}, ${at}, in ${nameText(given.conversation)}`),
        )
      }
      if (isEmpty && values.json !== true) io.stderr.write('No standing approvals found.\n')
      return EXIT.ok
    })
  },
})

function stateOf({ revokedAt, revokedBy = '', uses, used, expiresAt }: Grant): string {
  if (revokedAt !== undefined) return `revoked by ${nameText(revokedBy)}`
  const count = uses === undefined ? `used ${used}×` : `used ${used} of ${uses}×`
  if (expiresAt === undefined) return count
  const end = timeText(new Date(expiresAt).toISOString())
  return `${count}, ${expiresAt <= Date.now() ? 'expired' : 'until'} ${end}`
}

async function* eachGrant(
  store: Store,
  query: Parameters<Store['grants']>[0] = {},
): AsyncGenerator<Grant> {
  let after: string | undefined
  for (;;) {
    const page = await store.grants({
      ...query,
      limit: PAGE,
      ...(after !== undefined && { after }),
    })
    yield* page
    after = page.at(-1)?.id
    if (page.length < PAGE) return
  }
}

/** The grant under an id or the beginning of one. */
async function findGrant(store: Store, wanted: string): Promise<Grant> {
  const matches: Grant[] = []
  for await (const grant of eachGrant(store)) {
    if (grant.id === wanted) return grant
    if (grant.id.startsWith(wanted)) matches.push(grant)
  }
  const [only] = matches
  if (only !== undefined && matches.length === 1) return only
  throw usageError(
    only === undefined
      ? `Unknown grant \`${wanted}\`: \`bobbin grants\` lists them.`
      : `${matches.length} grants begin with \`${wanted}\`: write more of the id.`,
  )
}
