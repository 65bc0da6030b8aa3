import type { RunnerOptions } from '../../src/turn/options/option-table.ts'
import type { Life } from './life.ts'
import type { Settings } from './program.ts'

/** The option for summaries: it writes one, or fails now and then. */
export function compactOf(
  { compactAt, maxTokens }: Settings,
  life: Life,
): Pick<RunnerOptions, 'compact'> {
  if (compactAt === undefined) return {}
  return {
    compact: {
      at: Math.min(compactAt, maxTokens ?? compactAt),
      keepTurns: 1,
      summarise: async ({ items, previous }) => {
        await life.pause(1)
        if (items.length % 5 === 0) throw new Error('no summary today')
        return `${previous ?? 'Summary:'} ${items.length}`
      },
    },
  }
}
