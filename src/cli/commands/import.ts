import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { command, onePositional } from '../command/command.ts'
import { linesIn } from '../command/lines-in.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { nameText } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'
import { writeJson } from '../terminal/write-json.ts'

export const importConversation = command({
  name: 'import',
  usage: ['import FILE [--as CONVERSATION]'],
  about:
    'Reads what `bobbin export` wrote into a new conversation, whole or not at all; `-` reads standard input. All of it counts as third-party.',
  options: {
    as: { type: 'string', value: 'ID', help: 'The name of the new conversation' },
    ...STORE_OPTIONS,
  },
  run: ({ values, positionals }, io) => {
    const path = onePositional(positionals, 'a file that `bobbin export` wrote', 'import')
    const file = resolve(io.cwd, path)
    const info = path === '-' ? undefined : statSync(file, { throwIfNoEntry: false })
    if (path !== '-' && info === undefined) {
      throw usageError(`The file \`${path}\` does not exist: check the path.`, 'import')
    }
    if (info?.isDirectory() === true) throw usageError(`\`${path}\` is a folder: name a file.`)
    return withStore(values, io, { create: true }, async (store) => {
      const input = path === '-' ? io.stdin : createReadStream(file)
      const name = values.as === undefined ? {} : { conversation: values.as }
      const report = await store.import(linesIn(input), name)
      if (values.json === true) writeJson(io, report)
      else {
        const { conversation, entries, artifacts } = report
        io.stdout.write(
          `Imported ${nameText(conversation)}: ${entries} entries, ${artifacts} outputs\n`,
        )
      }
      return EXIT.ok
    })
  },
})
