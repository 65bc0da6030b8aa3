import { SETTLEMENTS } from '../../records/tool-call.ts'
import type { Store } from '../../store/store.ts'
import { eachCall, findConversation } from '../command/find-record.ts'
import { usageError } from '../command/usage-error.ts'
import { columnsOf } from '../terminal/columns.ts'
import type { Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { writeJson } from '../terminal/write-json.ts'
import { callLines } from './call-lines.ts'
import type { CallsValues } from './calls-options.ts'

/** The options as the store's filter. */
export async function callFilter(store: Store, values: CallsValues) {
  const { conversation, tool, settlement, checksum } = values
  if (settlement !== undefined && !SETTLEMENTS.some((each) => each === settlement)) {
    throw usageError(
      `Unknown settlement \`${settlement}\`: use ${SETTLEMENTS.join(', ')}.`,
      'calls',
    )
  }
  return {
    ...(conversation !== undefined && {
      conversation: (await findConversation(store, conversation)).id,
    }),
    ...(tool !== undefined && { tool }),
    ...(settlement !== undefined && { settlement }),
    ...(checksum !== undefined && { checksum }),
  }
}

/** One line for each settled call, oldest first. */
export async function listCalls(
  store: Store,
  values: CallsValues,
  _rest: readonly string[],
  io: Io,
): Promise<void> {
  const line = callLines(paintFor(io), columnsOf(io))
  let isEmpty = true
  for await (const found of eachCall(store, await callFilter(store, values))) {
    isEmpty = false
    if (values.json === true)
      writeJson(io, { conversation: found.conversation, ...found.entry.data })
    else for (const each of line(found)) io.stdout.write(`${each}\n`)
  }
  if (isEmpty && values.json !== true) io.stderr.write('No calls found.\n')
}
