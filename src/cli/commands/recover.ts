import type { Store } from '../../store/store.ts'
import { command } from '../command.ts'
import { eachConversation, findConversation } from '../find-record.ts'
import { EXIT } from '../io.ts'
import { writeOutcome } from '../json-view.ts'
import { withStore } from '../store-location.ts'
import { exitCodeOf, openSession, TURN_OPTIONS } from '../turn-session.ts'

export const recover = command({
  name: 'recover',
  usage: ['recover [CONVERSATION …]'],
  about:
    'Picks up what a dead process left: finishes what is safe to finish, marks the rest in doubt, and goes on. Without a name, every conversation whose last turn has no end.',
  options: TURN_OPTIONS,
  run: ({ values, positionals }, io) =>
    withStore(values, io, { create: false }, async (store) => {
      const ids = positionals.length > 0 ? await named(store, positionals) : await unfinished(store)
      if (ids.length === 0 && values.json !== true) io.stdout.write('Nothing to recover.\n')
      let code: number = EXIT.ok
      for (const conversation of ids) {
        const session = await openSession(values, io, store)
        if (values.json !== true)
          session.screen.line(session.paint.dim(`> recover ${conversation}`))
        const turn = await session.drive((runner) =>
          runner.recover({ conversation, signal: io.signal }),
        )
        if (values.json === true) writeOutcome(io, turn)
        else {
          session.screen.endText()
          session.screen.line(`${conversation}: ${turn.outcome.status}`)
        }
        code = Math.max(code, exitCodeOf(turn.outcome, io))
        if (io.signal.aborted) break
      }
      return code
    }),
})

async function named(store: Store, names: readonly string[]): Promise<string[]> {
  const infos = await Promise.all(names.map((name) => findConversation(store, name)))
  return infos.map(({ id }) => id)
}

/** Conversations that nobody holds and whose last turn began without ending. */
async function unfinished(store: Store): Promise<string[]> {
  const ids: string[] = []
  for await (const { id, holder } of eachConversation(store)) {
    const starts = await store.count({ conversation: id, kind: 'turn-start' })
    const ends = await store.count({ conversation: id, kind: 'turn-end' })
    if (holder === undefined && starts > ends && (await lastTurnIsOpen(store, id))) ids.push(id)
  }
  return ids
}

async function lastTurnIsOpen(store: Store, conversation: string): Promise<boolean> {
  let isOpen = false
  for await (const { kind } of store.entries(conversation)) {
    if (kind === 'turn-start') isOpen = true
    if (kind === 'turn-end') isOpen = false
  }
  return isOpen
}
