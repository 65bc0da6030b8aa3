// The two entries that make a call durable.
import { checksum } from '../../dist/index.js'

const AT = '2026-01-02T03:04:05.000Z'

export const argsOf = (i) => ({ service: 'checkout', pattern: 'timeout|refused', limit: i % 500 })

export function intent(turnId, id, args) {
  const data = {
    id,
    tool: 'read_log',
    args,
    checksum: checksum('read_log', args),
    effect: 'write',
    idempotencyKey: `key-${id}`,
    createdAt: AT,
  }
  return { kind: 'intent', turnId, data }
}

export function settlement(turnId, id, args) {
  const data = {
    id,
    tool: 'read_log',
    args,
    checksum: checksum('read_log', args),
    results: 'checkout: 3 timeouts between 12:00 and 12:05, all from the payment gateway',
    isComplete: true,
    isError: false,
    settlement: 'ok',
    executedBy: 'runner',
    inline: true,
    fromArtifactTool: false,
    trust: 'third-party',
    createdAt: AT,
    updatedAt: AT,
    completedAt: AT,
  }
  return { kind: 'settlement', turnId, data }
}
