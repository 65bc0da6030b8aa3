import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { command, onePositional } from '../command.ts'
import { EXIT } from '../io.ts'
import { writeJson } from '../json-view.ts'
import { STORE_OPTIONS, withStore } from '../store-location.ts'
import { usageError } from '../usage-error.ts'

export const importConversation = command({
  name: 'import',
  usage: ['import FILE [--as CONVERSATION]'],
  about:
    'Reads what `bobbin export` wrote into a new conversation, whole or not at all; `-` reads standard input. Imported outputs count as third-party.',
  options: {
    as: { type: 'string', value: 'ID', help: 'The name of the new conversation' },
    ...STORE_OPTIONS,
  },
  run: ({ values, positionals }, io) => {
    const path = onePositional(positionals, 'a file that `bobbin export` wrote', 'import')
    const file = resolve(io.cwd, path)
    const info = path === '-' ? undefined : statSync(file, { throwIfNoEntry: false })
    if (path !== '-' && info === undefined) {
      throw usageError(`There is no file \`${path}\`: check the path.`, 'import')
    }
    if (info?.isDirectory() === true) throw usageError(`\`${path}\` is a folder: name a file.`)
    return withStore(values, io, { create: true }, async (store) => {
      const input = path === '-' ? io.stdin : createReadStream(file)
      const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
      const name = values.as === undefined ? {} : { conversation: values.as }
      const report = await store.import(lines, name)
      if (values.json === true) writeJson(io, report)
      else {
        const { conversation, entries, artifacts } = report
        io.stdout.write(`Imported ${conversation}: ${entries} entries, ${artifacts} outputs\n`)
      }
      return EXIT.ok
    })
  },
})
