import { SETTLEMENTS } from '../../records/tool-call.ts'
import type { Values } from '../command/command.ts'
import { STORE_OPTIONS } from '../command/store-location.ts'

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
    help: `Only calls that ended so: ${SETTLEMENTS.join(', ')}`,
  },
  checksum: {
    type: 'string',
    value: 'HEX',
    help: 'Only calls with this checksum of tool and arguments',
  },
  ...STORE_OPTIONS,
} as const

export type CallsValues = Values<typeof CALLS_OPTIONS>
