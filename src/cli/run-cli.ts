import { distance } from '../core/word-distance.ts'
import { failureOf } from './command/failure.ts'
import { commandHelp, overview } from './command/help.ts'
import { usageError } from './command/usage-error.ts'
import { COMMANDS } from './command-table.ts'
import { columnsOf } from './terminal/columns.ts'
import { EXIT, type Io, type ProcessIo } from './terminal/io.ts'
import { outputTo } from './terminal/output.ts'
import { paintFor } from './terminal/paint.ts'
import { wrapLines } from './terminal/word-wrap.ts'
import { writeJson } from './terminal/write-json.ts'
import { VERSION } from './version.ts'

/** Runs one command line and gives the exit code; failures become one sentence on standard error. */
export async function runCli(args: readonly string[], given: ProcessIo): Promise<number> {
  const io: Io = { ...given, stdout: outputTo(given.stdout), stderr: outputTo(given.stderr) }
  try {
    return await dispatch(args, io)
  } catch (error) {
    const { message, code, exitCode } = failureOf(error, io.signal)
    const isJson = args.includes('--json')
    if (isJson) writeJson({ stdout: io.stderr }, { error: { code, message } })
    else {
      const columns = columnsOf({ stdout: io.stderr, env: io.env })
      io.stderr.write(`${wrapLines(`bobbin: ${message}`, columns)}\n`)
    }
    return exitCode
  }
}

async function dispatch(args: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = args
  const style = { paint: paintFor(io), columns: columnsOf(io) }
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
    io.stdout.write(commandHelp(found, style))
    return EXIT.ok
  }
  return found.execute(rest, io)

  function tellAll(): number {
    io.stdout.write(overview(COMMANDS, VERSION, style))
    return EXIT.ok
  }
}

function unknownCommand(name: string) {
  const near = COMMANDS.find((each) => distance(each.name, name) <= 2)
  const hint = near === undefined ? '' : ` Did you mean \`${near.name}\`?`
  const what = name.startsWith('-') ? 'option' : 'command'
  return usageError(`There is no ${what} \`${name}\`.${hint} \`bobbin help\` lists all commands.`)
}
