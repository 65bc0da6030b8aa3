// Makes the settled record of a small call. The limit is a lean frozen object with the same checksum.
import { checksum, Tokenizable, ToolCall } from '../dist/index.js'
import { compare, printTable, target } from './measure.mjs'

const results = new Tokenizable('done')

const raw = () => ({
  id: 'call_7f3a',
  tool: 'read_log',
  args: { service: 'checkout', since: '2026-11-15T12:00:00Z', lines: 50 },
  results,
  isComplete: true,
  isError: false,
  createdAt: 1_794_000_000_000,
  completedAt: 1_794_000_000_005,
})

function lean({ id, tool, args, createdAt, completedAt }) {
  const frozen = Object.freeze({ ...args })
  return Object.freeze({
    id,
    tool,
    args: frozen,
    checksum: checksum(tool, frozen),
    results,
    isComplete: true,
    isError: false,
    settlement: 'ok',
    executedBy: 'runner',
    inline: true,
    fromArtifactTool: false,
    trust: 'third-party',
    createdAt: new Date(createdAt),
    updatedAt: new Date(completedAt),
    completedAt: new Date(completedAt),
  })
}

if (lean(raw()).checksum !== new ToolCall(raw()).checksum) throw new Error('not the same checksum')

const found = compare({ lean: () => lean(raw()), ToolCall: () => new ToolCall(raw()) }, 'lean')
printTable([
  ['record', 'µs', 'ratio'],
  ...Object.entries(found).map(([name, { microseconds, ratio }]) => [
    name,
    microseconds.toFixed(2),
    ratio.toFixed(2),
  ]),
])
target(
  'a ToolCall takes at most 3 times a lean frozen object',
  found.ToolCall.ratio <= 3,
  found.ToolCall.ratio.toFixed(2),
)
