import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { command } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { nameText } from '../terminal/call-text.ts'
import { EXIT, writeAll } from '../terminal/io.ts'

export const exportConversation = command({
  name: 'export',
  usage: ['export CONVERSATION [-o FILE]'],
  about:
    'Writes a conversation as JSON Lines, outputs included. Keys and opaque provider state stay behind.',
  options: {
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      help: 'Write here instead of standard output',
    },
    ...STORE_OPTIONS,
  },
  run: ({ values, positionals: [wanted] }, io) => {
    if (wanted === undefined) {
      throw usageError(
        '`bobbin export` needs a conversation: an id, the beginning of one, or `last`.',
        'export',
      )
    }
    return withStore(values, io, { create: false }, async (store) => {
      const { id } = await findConversation(store, wanted)
      if (values.output === undefined) {
        await writeAll(io, lines(store.export(id)))
        return io.signal.aborted ? EXIT.interrupted : EXIT.ok
      }
      const target = resolve(io.cwd, values.output)
      const fresh = `${target}.${process.pid}.tmp`
      try {
        await pipeline(Readable.from(lines(store.export(id))), createWriteStream(fresh), {
          signal: io.signal,
        })
        await rename(fresh, target)
      } finally {
        await rm(fresh, { force: true })
      }
      io.stdout.write(`Exported ${nameText(id)} to ${values.output}\n`)
      return EXIT.ok
    })
  },
})

async function* lines(from: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of from) yield `${line}\n`
}
