import { beside } from '../terminal/columns.ts'
import type { Paint } from '../terminal/paint.ts'
import { wrapLines } from '../terminal/word-wrap.ts'
import type { Command } from './command.ts'

/** One line of the overview. */
export interface Listed {
  readonly name: string
  readonly summary: string
}

/** How help is written: its colours, and the width of the terminal. */
export interface HelpStyle {
  readonly paint: Paint
  readonly columns: number
}

export function overview(
  commands: readonly Listed[],
  version: string,
  { paint, columns }: HelpStyle,
): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 4
  const text = (line: string) => wrapLines(line, columns)
  return [
    text(`bobbin ${version}: tool calls as settled, immutable, content-addressed records`),
    '',
    'Usage: bobbin <command> [options]',
    '',
    ...commands.map(({ name, summary }) =>
      beside(`  ${paint.bold(name)}`, summary, width, columns),
    ),
    '',
    text(
      '`bobbin help <command>` says more. Records are in .bobbin/ unless --store says otherwise.',
    ),
    text(
      'Exit codes: 0 done, 1 found something wrong, 2 cannot use the input, 3 waits for a decision, 130 interrupted.',
    ),
    '',
  ].join('\n')
}

export function commandHelp(
  { usage, about, options }: Command,
  { paint, columns }: HelpStyle,
): string {
  const rows = Object.entries(options).map(([name, { short, value, help }]) => {
    const flags = `${short === undefined ? '    ' : `-${short}, `}--${name}`
    return [value === undefined ? flags : `${flags} ${value}`, help] as const
  })
  const width = Math.max(0, ...rows.map(([flags]) => flags.length)) + 4
  return [
    wrapLines(about, columns),
    '',
    'Usage:',
    ...usage.map((form) => wrapLines(`  bobbin ${form}`, columns)),
    '',
    ...(rows.length === 0 ? [] : ['Options:']),
    ...rows.map(([flags, help]) => beside(`  ${paint.bold(flags)}`, help, width, columns)),
    '',
  ].join('\n')
}
