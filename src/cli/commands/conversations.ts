import type { JsonValue } from '../../core/json/json.ts'
import type { ConversationInfo, ConversationQuery } from '../../store/store.ts'
import { timeText } from '../calls/stored-call.ts'
import { command } from '../command/command.ts'
import { eachConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { nameText, oneLine } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'
import { type Paint, paintFor } from '../terminal/paint.ts'
import { Screen } from '../terminal/screen.ts'
import { writeJson } from '../terminal/write-json.ts'

/** How many characters of metadata a line shows. */
const SHOWN_META = 200

const OPTIONS = {
  order: {
    type: 'string',
    value: 'ORDER',
    help: 'By `updated` (the last one first, unless given), `created` (the last one first) or `id`',
  },
  prefix: { type: 'string', value: 'TEXT', help: 'Only ids that begin with this text' },
  meta: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    help: 'Only those whose metadata has this; the value is JSON, or else text',
  },
  'top-level': { type: 'boolean', help: 'Without the conversations of sub-agents' },
  limit: { type: 'string', value: 'N', help: 'At most so many; all unless given' },
  ...STORE_OPTIONS,
} as const

const ORDERS: Readonly<Record<string, Pick<ConversationQuery, 'orderBy' | 'descending'>>> = {
  id: { orderBy: 'id' },
  created: { orderBy: 'createdAt', descending: true },
  updated: { orderBy: 'updatedAt', descending: true },
}

export const conversations = command({
  name: 'conversations',
  usage: ['conversations'],
  about: 'Lists conversations with their metadata, the one used last first.',
  options: OPTIONS,
  run: ({ values, positionals: [extra] }, io) => {
    if (extra !== undefined) {
      throw usageError('`bobbin conversations` takes options only.', 'conversations')
    }
    const { order = 'updated', prefix, meta, limit } = values
    const ordered = Object.hasOwn(ORDERS, order) ? ORDERS[order] : undefined
    if (ordered === undefined) {
      throw usageError(
        `Unknown order \`${order}\`: use ${Object.keys(ORDERS).join(', ')}.`,
        'conversations',
      )
    }
    const query: ConversationQuery = {
      ...ordered,
      topLevel: values['top-level'] === true,
      ...(prefix !== undefined && { prefix }),
      ...(meta !== undefined && { meta: Object.fromEntries(meta.map(memberIn)) }),
      ...(limit !== undefined && { limit: countIn(limit) }),
    }
    return withStore(values, io, { create: false }, async (store) => {
      const paint = paintFor(io)
      const screen = new Screen(io)
      let isEmpty = true
      for await (const info of eachConversation(store, query)) {
        isEmpty = false
        if (values.json === true) {
          writeJson(io, info)
          continue
        }
        const settled = await store.count({ conversation: info.id, kind: 'settlement' })
        screen.line(lineOf(info, settled, paint))
      }
      if (isEmpty && values.json !== true) io.stderr.write('No conversations found.\n')
      return EXIT.ok
    })
  },
})

function lineOf(info: ConversationInfo, settled: number, paint: Paint): string {
  const at = timeText(new Date(info.updatedAt).toISOString())
  const held = info.holder && paint.yellow(` held by ${nameText(info.holder.owner)}`)
  const meta = info.meta && paint.dim(` ${oneLine(JSON.stringify(info.meta), SHOWN_META)}`)
  const counts = `${settled} calls, ${info.length} entries`
  const fork = info.origin && ` fork of ${nameText(info.origin.conversation)}`
  return `${nameText(info.id)}  ${at}  ${counts}${fork ?? ''}${held ?? ''}${meta ?? ''}`
}

function memberIn(text: string): [string, JsonValue] {
  const at = text.indexOf('=')
  if (at < 1) {
    throw usageError('--meta needs a name and a value: `--meta user=ada`.', 'conversations')
  }
  const value = text.slice(at + 1)
  try {
    return [text.slice(0, at), JSON.parse(value) as JsonValue]
  } catch {
    return [text.slice(0, at), value]
  }
}

function countIn(text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count > 0) return count
  throw usageError('--limit needs a whole number from 1 on.', 'conversations')
}
