import type { Command } from './command.ts'

/** A command that is loaded when it is called: nobody waits for what they do not use. */
interface Entry {
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

export const COMMANDS: readonly Entry[] = [
  {
    name: 'run',
    summary: 'run one turn and show it live',
    load: async () => (await import('./commands/run.ts')).run,
  },
]
