import { type Io, isInteractive } from './io.ts'

const CTRL_C = 3
const CTRL_Z = 26

/** A terminal's input, as far as its keys are held back. */
type Keys = Io['stdin'] & { setRawMode?(isRaw: boolean): unknown }

/**
 * Keeps keys that are typed while a turn writes from being shown inside its text, and drops them, so that
 * none answers a question that was not asked yet. Ctrl-C and Ctrl-Z work. Call the result to end it.
 */
export function quietKeys(io: Io): () => void {
  const keys: Keys = io.stdin
  if (!isInteractive(io) || keys.setRawMode === undefined) return () => {}
  const raw = (isRaw: boolean) => keys.setRawMode?.(isRaw)
  const listen = (bytes: Buffer) => {
    for (const byte of bytes) {
      if (byte === CTRL_C) process.kill(process.pid, 'SIGINT')
      if (byte === CTRL_Z) suspend(raw)
    }
  }
  raw(true)
  keys.on('data', listen)
  // A prompt before this one has paused the input.
  keys.resume()
  return () => {
    keys.off('data', listen)
    keys.pause()
    raw(false)
  }
}

/** Stops every process of the command line, as the terminal itself would. */
function suspend(raw: (isRaw: boolean) => unknown): void {
  raw(false)
  process.once('SIGCONT', () => raw(true))
  process.kill(0, 'SIGTSTP')
}
