import { rename, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { wire } from '../../wire/index.ts'
import { command, onePositional, type Values } from '../command/command.ts'
import { oneLine } from '../terminal/call-text.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { Screen } from '../terminal/screen.ts'
import { writeJson } from '../terminal/write-json.ts'
import { repairPayload } from '../wire/repair-payload.ts'
import { readWireFile, type WireFile } from '../wire/wire-file.ts'

const OPTIONS = {
  from: {
    type: 'string',
    value: 'API',
    help: 'The protocol; needed only if the file does not show it',
  },
  fix: { type: 'boolean', help: 'Repair what can be repaired, in the file itself' },
  output: { type: 'string', short: 'o', value: 'FILE', help: 'With --fix: write here instead' },
  json: { type: 'boolean', help: 'Write JSON instead of text' },
} as const

export const lint = command({
  name: 'lint',
  usage: ['lint FILE', 'lint --fix FILE'],
  about:
    'Checks a conversation in any provider’s wire format (a request, its list of messages or items, or one item a line) and names for each fault the error that the provider would answer. `-` reads standard input.',
  options: OPTIONS,
  async run({ values, positionals }, io) {
    const path = onePositional(positionals, 'a file with a conversation', 'lint')
    const file = await readWireFile(path, values.from, io)
    return values.fix === true ? fix(path, file, values, io) : check(path, file, values, io)
  },
})

function check(path: string, { payload, api }: WireFile, values: Values<typeof OPTIONS>, io: Io) {
  const violations = wire(api).validate(payload)
  if (values.json === true) writeJson(io, { file: path, api, violations })
  else tell(path, api, violations, io)
  return Promise.resolve(violations.length === 0 ? EXIT.ok : EXIT.failed)
}

function tell(
  path: string,
  api: string,
  violations: ReturnType<ReturnType<typeof wire>['validate']>,
  io: Io,
): void {
  const paint = paintFor(io)
  const screen = new Screen(io)
  for (const { rule, path: place, message, prevents } of violations) {
    const where = paint.bold(placeText(oneLine(place, 200)))
    screen.line(`${path} ${where}: ${oneLine(message, 400)} ${paint.dim(rule)}`)
    screen.line(`    ${api} answers: ${paint.red(prevents)}`)
  }
  const count = violations.length
  const faults = count === 1 ? '1 fault' : `${count} faults`
  const found = count === 0 ? 'no faults' : `${faults}; --fix repairs what it can`
  screen.line(`${path}: ${api}, ${found}`)
}

/** Adapters write paths as their provider does; people read one style: `messages[1].content[0]`. */
const placeText = (path: string) => path.replaceAll(/\.(\d+)(?=[.:[]|$)/g, '[$1]')

async function fix(path: string, file: WireFile, values: Values<typeof OPTIONS>, io: Io) {
  const { api, indent } = file
  const { payload, repairs, before, after } = repairPayload(file)
  const text = `${JSON.stringify(payload, null, indent)}\n`
  const target = values.output ?? path
  if (target === '-') io.stdout.data(text)
  else if (before.length > 0 || values.output !== undefined)
    await replaceFile(resolve(io.cwd, target), text)
  const report = {
    file: target,
    api,
    mended: before.length - after.length,
    repairs,
    violations: after,
  }
  const out = target === '-' ? io.stderr : io.stdout
  if (values.json === true) writeJson({ stdout: out }, report)
  else {
    const output = { ...io, stdout: out }
    const screen = new Screen(output)
    for (const message of repairs)
      screen.line(`  ${oneLine(message, 300).replace(/^\S+/, placeText)}`)
    tell(target, api, after, output)
  }
  return after.length === 0 ? EXIT.ok : EXIT.failed
}

/** Replaces a file at once: a reader sees the old one or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.tmp`
  await writeFile(fresh, text)
  await rename(fresh, path)
}
