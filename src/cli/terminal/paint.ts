import { shownText } from '../../text/visible-text.ts'
import type { Io } from './io.ts'

/** Colours text for a terminal, and leaves it alone everywhere else. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

/**
 * Stands for the start of a colour until it is written. No text from elsewhere can contain it, because it is new
 * in each process.
 */
const MARK = `\u{e000}${globalThis.crypto.randomUUID()}`

/** One of our colours; it takes no room. */
export const COLOUR = new RegExp(`(${MARK}\\d+m)`)

/** Text as a terminal receives it: our colours as they are, every other control character visible. */
export function forTerminal(text: string): string {
  if (!text.includes(MARK)) return shownText(text)
  const pieces = text.split(COLOUR)
  return pieces
    .map((piece, at) => (at % 2 === 1 ? `\u001b[${piece.slice(MARK.length)}` : shownText(piece)))
    .join('')
}

/** Colours only on a terminal that wants them: `NO_COLOR` and `TERM=dumb` are heeded. */
export function paintFor({
  stdout,
  env,
}: {
  readonly stdout: Pick<Io['stdout'], 'isTTY'>
  readonly env: Io['env']
}): Paint {
  const isOn = stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const painter = ([on, off]: readonly [number, number]) =>
    isOn ? (text: string) => `${MARK}${on}m${text}${MARK}${off}m` : (text: string) => text
  return {
    bold: painter(CODES.bold),
    dim: painter(CODES.dim),
    red: painter(CODES.red),
    green: painter(CODES.green),
    yellow: painter(CODES.yellow),
    cyan: painter(CODES.cyan),
  }
}
