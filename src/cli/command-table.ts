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
  {
    name: 'lint',
    summary: 'name what a provider would refuse in a conversation, and mend it',
    load: async () => (await import('./commands/lint.ts')).lint,
  },
  {
    name: 'convert',
    summary: 'carry a conversation to another provider’s wire format',
    load: async () => (await import('./commands/convert.ts')).convert,
  },
]
