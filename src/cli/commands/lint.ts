import { rename, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { wire } from '../../wire/index.ts'
import { oneLine } from '../call-lines.ts'
import { command, onePositional, type Values } from '../command.ts'
import { EXIT, type Io } from '../io.ts'
import { writeJson } from '../json-view.ts'
import { paintFor } from '../paint.ts'
import { repairPayload } from '../repair-payload.ts'
import { readWireFile, type WireFile } from '../wire-file.ts'

const OPTIONS = {
  from: {
    type: 'string',
    value: 'API',
    help: 'The protocol, where it cannot be told from the file',
  },
  fix: { type: 'boolean', help: 'Mend what can be mended, in the file itself' },
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
  const write = (line: string) => io.stdout.write(`${line}\n`)
  for (const { rule, path: place, message, prevents } of violations) {
    write(`${path} ${paint.bold(oneLine(place, 200))}: ${oneLine(message, 400)} ${paint.dim(rule)}`)
    write(`    ${api} answers: ${paint.red(prevents)}`)
  }
  const count = violations.length
  if (count === 0) write(`${path}: ${api}, nothing to complain about`)
  else
    write(`${path}: ${api}, ${count} ${count === 1 ? 'fault' : 'faults'}; --fix mends what can be`)
}

async function fix(path: string, file: WireFile, values: Values<typeof OPTIONS>, io: Io) {
  const { api, indent } = file
  const { payload, repairs, before, after } = repairPayload(file)
  const text = `${JSON.stringify(payload, null, indent)}\n`
  const target = values.output ?? path
  if (target === '-') io.stdout.write(text)
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
    for (const message of repairs) out.write(`  ${oneLine(message, 300)}\n`)
    tell(target, api, after, { ...io, stdout: out })
  }
  return after.length === 0 ? EXIT.ok : EXIT.failed
}

/** Whole or not at all: whoever reads the file meanwhile sees the old one or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.tmp`
  await writeFile(fresh, text)
  await rename(fresh, path)
}
