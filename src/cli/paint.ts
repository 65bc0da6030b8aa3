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

/** Colours only on a terminal that wants them: `NO_COLOR` and `TERM=dumb` are heeded. */
export function paintFor({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paint {
  const isOn = stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const painter = ([on, off]: readonly [number, number]) =>
    isOn ? (text: string) => `\u001b[${on}m${text}\u001b[${off}m` : (text: string) => text
  return {
    bold: painter(CODES.bold),
    dim: painter(CODES.dim),
    red: painter(CODES.red),
    green: painter(CODES.green),
    yellow: painter(CODES.yellow),
    cyan: painter(CODES.cyan),
  }
}
