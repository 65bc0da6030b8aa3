import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { providers } from '../../wire/providers.ts'
import { command, onePositional } from '../command/command.ts'
import { usageError } from '../command/usage-error.ts'
import { oneLine } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'
import { convertPayload } from '../wire/repair-payload.ts'
import { readApi, readWireFile } from '../wire/wire-file.ts'

const APIS = providers.map(({ api }) => api).join(', ')

const OPTIONS = {
  to: { type: 'string', short: 't', value: 'API', help: 'The protocol to carry it to' },
  from: {
    type: 'string',
    value: 'API',
    help: 'The protocol; needed only if the file does not show it',
  },
  output: {
    type: 'string',
    short: 'o',
    value: 'FILE',
    help: 'Write here instead of standard output',
  },
} as const

export const convert = command({
  name: 'convert',
  usage: ['convert --to API FILE'],
  about: `Converts a conversation from one provider’s wire format to another’s: ${APIS}. Declared functions, the choice among them and common parameters are carried along where both have a form for them. Repairs and omissions are listed on standard error.`,
  options: OPTIONS,
  async run({ values, positionals }, io) {
    const path = onePositional(positionals, 'a file with a conversation', 'convert')
    if (values.to === undefined) {
      throw usageError(
        '`bobbin convert` needs --to API, such as `--to anthropic-messages`.',
        'convert',
      )
    }
    const to = readApi(values.to, '--to')
    const file = await readWireFile(path, values.from, io)
    const { payload, repairs } = convertPayload(file, to)
    const text = `${JSON.stringify(payload, null, file.indent || 2)}\n`
    if (values.output === undefined) io.stdout.data(text)
    else await writeFile(resolve(io.cwd, values.output), text)
    for (const { message } of repairs) io.stderr.write(`bobbin: ${oneLine(message, 300)}\n`)
    return EXIT.ok
  },
})
