import { columnsOf } from './columns.ts'
import type { Io } from './io.ts'
import { wrapLines } from './word-wrap.ts'

/** Tells the user something on standard error; on a terminal, broken between words. */
export function tell({ stderr, env }: Pick<Io, 'stderr' | 'env'>, text: string): void {
  const columns = columnsOf({ stdout: stderr, env })
  stderr.write(`${wrapLines(`bobbin: ${text}`, columns)}\n`)
}
