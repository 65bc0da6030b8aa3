import { COMMANDS } from './command-table.ts'
import { failureOf } from './failure.ts'
import { commandHelp, overview } from './help.ts'
import { EXIT, type Io } from './io.ts'
import { paintFor } from './paint.ts'
import { usageError } from './usage-error.ts'
import { VERSION } from './version.ts'

/** Runs one command line and gives the exit code; failures become one sentence on standard error. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    const { message, code, exitCode } = failureOf(error, io.signal)
    const isJson = args.includes('--json')
    if (isJson) io.stderr.write(`${JSON.stringify({ error: { code, message } })}\n`)
    else io.stderr.write(`bobbin: ${message}\n`)
    return exitCode
  }
}

async function dispatch(args: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = args
  const paint = paintFor(io)
  if (first === undefined || first === '--help' || first === '-h') return tellAll()
  if (first === '--version' || first === '-v') {
    io.stdout.write(`${VERSION}\n`)
    return EXIT.ok
  }
  if (first === 'help' && rest[0] === undefined) return tellAll()
  const name = first === 'help' ? (rest[0] ?? '') : first
  const entry = COMMANDS.find((each) => each.name === name)
  if (entry === undefined) throw unknownCommand(name)
  const found = await entry.load()
  const end = rest.indexOf('--')
  const flags = end === -1 ? rest : rest.slice(0, end)
  if (first === 'help' || flags.includes('--help') || flags.includes('-h')) {
    io.stdout.write(commandHelp(found, paint))
    return EXIT.ok
  }
  return found.execute(rest, io)

  function tellAll(): number {
    io.stdout.write(overview(COMMANDS, VERSION, paint))
    return EXIT.ok
  }
}

function unknownCommand(name: string) {
  const near = COMMANDS.find((each) => distance(each.name, name) <= 2)
  const hint = near === undefined ? '' : ` Did you mean \`${near.name}\`?`
  const what = name.startsWith('-') ? 'option' : 'command'
  return usageError(`There is no ${what} \`${name}\`.${hint} \`bobbin help\` lists all commands.`)
}

/** How many letters differ between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1]
    for (const [j, other] of b.split('').entries()) {
      const swap = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
