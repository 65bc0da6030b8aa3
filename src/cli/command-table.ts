import type { Command } from './command/command.ts'

/** A command, loaded when it is called, so that the others cost nothing. */
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
    name: 'chat',
    summary: 'run turn after turn in one conversation',
    load: async () => (await import('./commands/chat.ts')).chat,
  },
  {
    name: 'follow',
    summary: 'show a conversation, and what happens in it in any process',
    load: async () => (await import('./commands/follow.ts')).follow,
  },
  {
    name: 'stop',
    summary: 'stop the turn that runs in a conversation',
    load: async () => (await import('./commands/stop.ts')).stop,
  },
  {
    name: 'gates',
    summary: 'list what waits for a decision, and decide it',
    load: async () => (await import('./commands/gates.ts')).gates,
  },
  {
    name: 'grants',
    summary: 'list standing approvals, and end one',
    load: async () => (await import('./commands/grants.ts')).grants,
  },
  {
    name: 'calls',
    summary: 'list, show, draw or follow settled calls',
    load: async () => (await import('./commands/calls.ts')).calls,
  },
  {
    name: 'conversations',
    summary: 'list conversations with their metadata',
    load: async () => (await import('./commands/conversations.ts')).conversations,
  },
  {
    name: 'usage',
    summary: 'tell how many tokens turns took, and what they cost',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  {
    name: 'fork',
    summary: 'copy a conversation into one that continues apart',
    load: async () => (await import('./commands/fork.ts')).fork,
  },
  {
    name: 'artifact',
    summary: 'query the output of a call as a model does',
    load: async () => (await import('./commands/artifact.ts')).artifact,
  },
  {
    name: 'verify',
    summary: 'prove that no record was altered',
    load: async () => (await import('./commands/verify.ts')).verify,
  },
  {
    name: 'export',
    summary: 'write a conversation as JSON Lines',
    load: async () => (await import('./commands/export.ts')).exportConversation,
  },
  {
    name: 'import',
    summary: 'read an exported conversation',
    load: async () => (await import('./commands/import.ts')).importConversation,
  },
  {
    name: 'recover',
    summary: 'finish what a dead process left',
    load: async () => (await import('./commands/recover.ts')).recover,
  },
  {
    name: 'undo',
    summary: 'take back what a call did',
    load: async () => (await import('./commands/undo.ts')).undo,
  },
  {
    name: 'worker',
    summary: 'run the turns of an agent for a Restate engine',
    load: async () => (await import('./commands/worker.ts')).worker,
  },
  {
    name: 'gc',
    summary: 'remove outputs that no record refers to',
    load: async () => (await import('./commands/gc.ts')).gc,
  },
  {
    name: 'lint',
    summary: 'find what a provider would refuse in a conversation, and fix it',
    load: async () => (await import('./commands/lint.ts')).lint,
  },
  {
    name: 'convert',
    summary: 'convert a conversation to another provider’s wire format',
    load: async () => (await import('./commands/convert.ts')).convert,
  },
  {
    name: 'mcp',
    summary: 'look at an MCP server, or serve an agent file as one',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
]
