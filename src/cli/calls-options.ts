import type { Values } from './command.ts'
import { STORE_OPTIONS } from './store-location.ts'

/** What `bobbin calls` takes. */
export const CALLS_OPTIONS = {
  conversation: {
    type: 'string',
    short: 'c',
    value: 'ID',
    help: 'Only this conversation (the beginning of its id is enough, or `last`)',
  },
  tool: { type: 'string', value: 'NAME', help: 'Only calls of this tool' },
  settlement: {
    type: 'string',
    short: 's',
    value: 'HOW',
    help: 'Only calls that ended so: ok, failed, refused, denied, abandoned, aborted, timed-out, in-doubt',
  },
  checksum: {
    type: 'string',
    value: 'HEX',
    help: 'Only calls with this checksum of tool and arguments',
  },
  conversations: { type: 'boolean', help: 'List conversations instead of calls' },
  ...STORE_OPTIONS,
} as const

export type CallsValues = Values<typeof CALLS_OPTIONS>
