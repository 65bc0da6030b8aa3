import type { Io } from './io.ts'
import { widthOf } from './text-width.ts'
import { wrapLines } from './word-wrap.ts'

/** The width of a terminal that does not say its own. */
const COLUMNS = 80
/** Text in a narrower column is hard to read. */
const LEAST_COLUMN = 28

/** Whether lines can be moved, cut and broken: on a terminal that can do so. */
export const isLive = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>) =>
  stdout.isTTY === true && env['TERM'] !== 'dumb'

/** How wide a line may be; without limit outside a terminal. */
export const columnsOf = (io: Pick<Io, 'stdout' | 'env'>) =>
  isLive(io) ? io.stdout.columns || COLUMNS : Number.POSITIVE_INFINITY

/** Fills a text up to a width; colours take no room. */
export const padTo = (text: string, width: number) =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** A word and its text in a column beside it; in a narrow terminal the text stands below. */
export function beside(word: string, text: string, width: number, columns: number): string {
  const room = columns - width
  if (room < LEAST_COLUMN) return `${word.trimEnd()}\n${wrapLines(`        ${text}`, columns)}`
  const lines = wrapLines(text, room).replaceAll('\n', `\n${' '.repeat(width)}`)
  return padTo(word, width) + lines
}
