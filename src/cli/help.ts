import type { Command } from './command.ts'
import type { Paint } from './paint.ts'

/** One line of the overview. */
export interface Listed {
  readonly name: string
  readonly summary: string
}

export function overview(commands: readonly Listed[], version: string, paint: Paint): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    `bobbin ${version}: tool calls as settled, immutable, content-addressed records`,
    '',
    'Usage: bobbin <command> [options]',
    '',
    ...commands.map(({ name, summary }) => `  ${paint.bold(name.padEnd(width))}  ${summary}`),
    '',
    'bobbin help <command> tells more. Records are kept in .bobbin/ unless --store says otherwise.',
    'Exit codes: 0 done, 1 found something wrong, 2 cannot use the input, 3 waits for a decision, 130 interrupted.',
    '',
  ].join('\n')
}

export function commandHelp({ usage, about, options }: Command, paint: Paint): string {
  const rows = Object.entries(options).map(([name, { short, value, help }]) => {
    const flags = `${short === undefined ? '    ' : `-${short}, `}--${name}`
    return [value === undefined ? flags : `${flags} ${value}`, help] as const
  })
  const width = Math.max(0, ...rows.map(([flags]) => flags.length))
  return [
    about,
    '',
    'Usage:',
    ...usage.map((form) => `  bobbin ${form}`),
    '',
    ...(rows.length === 0 ? [] : ['Options:']),
    ...rows.map(([flags, help]) => `  ${paint.bold(flags.padEnd(width))}  ${help}`),
    '',
  ].join('\n')
}
