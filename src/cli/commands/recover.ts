import type { Store } from '../../store/store.ts'
import { command } from '../command/command.ts'
import { heldText } from '../command/failure.ts'
import { eachConversation, findConversation } from '../command/find-record.ts'
import { withStore } from '../command/store-location.ts'
import type { LoadedAgent } from '../run/agent-file.ts'
import { writeOutcome } from '../run/json-view.ts'
import { exitCodeOf, openSession, TURN_OPTIONS } from '../run/turn-session.ts'
import { reasonText } from '../run/turn-summary.ts'
import { withAgent } from '../run/with-agent.ts'
import { nameText } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'

export const recover = command({
  name: 'recover',
  usage: ['recover [CONVERSATION …]'],
  about:
    'Finishes what a dead process left: runs calls that are safe to run again, marks the rest in doubt, and continues the turn. Without a name, every conversation whose last turn has no end.',
  options: {
    ...TURN_OPTIONS,
    force: {
      type: 'boolean',
      help: 'Take over at once from a process that is known to be dead, without waiting for its lease',
    },
  },
  run: ({ values, positionals }, io) =>
    withStore(values, io, { create: false }, async (store) => {
      const force = values.force === true
      const { ids, held } =
        positionals.length > 0
          ? { ids: await named(store, positionals), held: [] }
          : await unfinished(store, force)
      if (ids.length + held.length === 0 && values.json !== true) {
        io.stdout.write('Nothing to recover.\n')
      }
      for (const { id, expiresAt } of held) {
        io.stderr.write(`bobbin: ${heldText(nameText(id), expiresAt)}\n`)
      }
      let code: number = held.length === 0 ? EXIT.ok : EXIT.failed
      const recoverOne = async (loaded: LoadedAgent, conversation: string) => {
        const session = await openSession(loaded, values, io, store, conversation)
        if (values.json !== true)
          session.screen.line(session.paint.dim(`> recover ${nameText(conversation)}`))
        const turn = await session.drive((runner) =>
          runner.recover({ conversation, signal: io.signal, force }),
        )
        if (values.json === true) writeOutcome(io, turn)
        else {
          session.screen.endText()
          const reason = reasonText(turn)
          session.screen.line(`${nameText(conversation)}: ${turn.outcome.status}`)
          if (reason !== undefined) session.screen.line(reason)
        }
        code = Math.max(code, exitCodeOf(turn, io))
      }
      if (ids.length === 0) return code
      await withAgent(values, io, async (loaded) => {
        for (const conversation of ids) {
          await recoverOne(loaded, conversation)
          if (io.signal.aborted) break
        }
      })
      return code
    }),
})

async function named(store: Store, names: readonly string[]): Promise<string[]> {
  const infos = await Promise.all(names.map((name) => findConversation(store, name)))
  return infos.map(({ id }) => id)
}

/** Conversations whose last turn has no end: free ones, and those that another process holds. */
async function unfinished(store: Store, force: boolean) {
  const ids: string[] = []
  const held: { readonly id: string; readonly expiresAt: number }[] = []
  for await (const { id, holder } of eachConversation(store)) {
    const starts = await store.count({ conversation: id, kind: 'turn-start' })
    const ends = await store.count({ conversation: id, kind: 'turn-end' })
    if (starts <= ends || !(await lastTurnIsOpen(store, id))) continue
    if (holder === undefined || force) ids.push(id)
    else held.push({ id, expiresAt: holder.expiresAt })
  }
  return { ids, held }
}

async function lastTurnIsOpen(store: Store, conversation: string): Promise<boolean> {
  let isOpen = false
  for await (const { kind } of store.entries(conversation)) {
    if (kind === 'turn-start') isOpen = true
    if (kind === 'turn-end') isOpen = false
  }
  return isOpen
}
