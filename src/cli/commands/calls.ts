import type { Store } from '../../store/store.ts'
import { callTree } from '../calls/call-tree.ts'
import { CALLS_OPTIONS, type CallsValues } from '../calls/calls-options.ts'
import { followCalls } from '../calls/follow-calls.ts'
import { listCalls } from '../calls/list-calls.ts'
import { showCall } from '../calls/show-call.ts'
import { command } from '../command/command.ts'
import { findCall, findConversation } from '../command/find-record.ts'
import { withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { writeJson } from '../terminal/write-json.ts'

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
    else await showCall(store, found, io)
  },
}

export const calls = command({
  name: 'calls',
  usage: ['calls', 'calls show ID', 'calls tree', 'calls follow'],
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
      await work(store, values, rest, io)
      return EXIT.ok
    })
  },
})
