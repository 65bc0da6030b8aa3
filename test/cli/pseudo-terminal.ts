import { spawn } from 'node:child_process'
import { screenOf } from './terminal-screen.ts'

/** What a program in a pseudo-terminal did. */
export interface TerminalRun {
  /** Everything the terminal got, control characters included. */
  readonly bytes: string
  /** What a person sees when all is over, with what has scrolled off at the top. */
  readonly screen: string
  readonly code: number
}

/** Keys that are pressed once the terminal shows something new. */
export interface Typed {
  readonly when: string
  readonly type: string
}

interface TerminalOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
  readonly typed?: readonly Typed[]
  readonly columns?: number
  readonly rows?: number
}

const TIME_LIMIT_MS = 60_000

/**
 * Runs a program of this project in a terminal and types as told. `script` gives it one without anything to
 * compile: Debian counts it as essential, macOS brings it, other systems have it in `util-linux`.
 */
export function runInTerminal(
  args: readonly string[],
  { cwd, env = process.env, typed = [], columns = 100, rows = 40 }: TerminalOptions,
): Promise<TerminalRun> {
  const line = [process.execPath, ...args].map(quoted).join(' ')
  const command = `stty cols ${columns} rows ${rows}; exec ${line}`
  const scriptArgs =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', 'sh', '-c', command]
      : ['-qefc', command, '/dev/null']
  return new Promise((resolve, reject) => {
    const child = spawn('script', scriptArgs, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS)
    const waiting = [...typed]
    let bytes = ''
    let from = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      bytes += text
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        const at = bytes.indexOf(next.when, from)
        if (at === -1) return
        from = at + next.when.length
        waiting.shift()
        child.stdin.write(next.type)
      }
    })
    child.on('error', (error) =>
      reject(new Error('`script` makes the terminal: install `util-linux`.', { cause: error })),
    )
    child.on('close', (code) => {
      clearTimeout(timer)
      void screenOf(bytes, columns, rows).then((screen) => {
        resolve({ bytes, screen, code: code ?? -1 })
      })
    })
  })
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
