import { spawn, spawnSync } from 'node:child_process'

/** What a program in a pseudo-terminal did. */
export interface TerminalRun {
  /** Everything the terminal got, control characters included. */
  readonly screen: string
  readonly code: number
}

/** An answer that is typed once the screen shows something. */
export interface Typed {
  readonly when: string
  readonly type: string
}

const TIME_LIMIT_MS = 60_000

/** `script` gives a program a terminal without anything to compile; Linux and macOS bring it. */
export const hasPseudoTerminal =
  process.platform !== 'win32' && spawnSync('script', ['--version']).error === undefined

/** Runs a program of this project in a terminal of 100 columns and types as told. */
export function runInTerminal(
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv; typed?: readonly Typed[] },
): Promise<TerminalRun> {
  const { cwd, env = process.env, typed = [] } = options
  const line = [process.execPath, ...args].map(quoted).join(' ')
  const command = `stty cols 100 rows 40 2>/dev/null; exec ${line}`
  const scriptArgs =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', 'sh', '-c', command]
      : ['-qefc', command, '/dev/null']
  return new Promise((resolve, reject) => {
    const child = spawn('script', scriptArgs, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS)
    const waiting = [...typed]
    let screen = ''
    let from = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text
      const next = waiting[0]
      if (next === undefined) return
      const at = screen.indexOf(next.when, from)
      if (at === -1) return
      from = at + next.when.length
      waiting.shift()
      child.stdin.write(next.type)
    })
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ screen, code: code ?? -1 })
    })
  })
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
