import type { Store } from '../../store/store.ts'
import { callTree } from '../call-tree.ts'
import { CALLS_OPTIONS, type CallsValues } from '../calls-options.ts'
import { command } from '../command.ts'
import { eachConversation, findCall, findConversation } from '../find-record.ts'
import { followCalls } from '../follow-calls.ts'
import { EXIT, type Io } from '../io.ts'
import { writeJson } from '../json-view.ts'
import { listCalls, showCall } from '../list-calls.ts'
import { paintFor } from '../paint.ts'
import { withStore } from '../store-location.ts'
import { usageError } from '../usage-error.ts'

const FORMS: Readonly<
  Record<
    string,
    (store: Store, values: CallsValues, rest: readonly string[], io: Io) => Promise<void>
  >
> = {
  list: listCalls,
  tree: callTree,
  follow: followCalls,
  async show(store, values, [id], io) {
    if (id === undefined) throw usageError('`bobbin calls show` needs the id of a call.', 'calls')
    const { conversation } = values
    const place =
      conversation === undefined ? undefined : (await findConversation(store, conversation)).id
    const found = await findCall(store, id, place)
    if (values.json === true) writeJson(io, { conversation: found.conversation, ...found.entry })
    else await showCall(found, io)
  },
}

export const calls = command({
  name: 'calls',
  usage: ['calls', 'calls show ID', 'calls tree', 'calls follow', 'calls --conversations'],
  about:
    'Lists settled calls, shows one, draws turns with their calls as a tree, or follows them as they settle. Repeated calls (×2) and calls in doubt stand out.',
  options: CALLS_OPTIONS,
  run: ({ values, positionals: [form = 'list', ...rest] }, io) => {
    const work = Object.hasOwn(FORMS, form) ? FORMS[form] : undefined
    if (work === undefined) {
      throw usageError(
        `\`bobbin calls ${form}\` is not known: use list, show, tree or follow.`,
        'calls',
      )
    }
    return withStore(values, io, { create: false }, async (store) => {
      if (values.conversations === true) await listConversations(store, values, io)
      else await work(store, values, rest, io)
      return EXIT.ok
    })
  },
})

async function listConversations(store: Store, values: CallsValues, io: Io): Promise<void> {
  const paint = paintFor(io)
  for await (const info of eachConversation(store)) {
    if (values.json === true) {
      writeJson(io, info)
      continue
    }
    const settled = await store.count({ conversation: info.id, kind: 'settlement' })
    const at = new Date(info.updatedAt).toISOString().replace('T', ' ').slice(0, 19)
    const held = info.holder === undefined ? '' : paint.yellow(` held by ${info.holder.owner}`)
    io.stdout.write(`${info.id}  ${at}  ${settled} calls, ${info.length} entries${held}\n`)
  }
}
