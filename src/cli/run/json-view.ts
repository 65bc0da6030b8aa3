import { isArtifact } from '../../spool/artifact.ts'
import type { TurnRunner } from '../../turn/turn-runner.ts'
import type { Io } from '../terminal/io.ts'
import { writeJson } from '../terminal/write-json.ts'
import type { DrivenTurn } from './drive-turn.ts'

/** Writes what a runner tells as JSON, one event a line. */
export function jsonView(runner: TurnRunner, io: Pick<Io, 'stdout'>): void {
  const write = (event: object) => writeJson(io, event)
  runner.on('message', (content) => write({ type: 'message', ...content }))
  runner.on('thought', (content) => write({ type: 'thought', ...content }))
  runner.on('toolCall', (content) =>
    write({ type: 'toolCall', ...content, results: plainResults(content.results) }),
  )
  runner.observe('toolProgress', (event) => write({ type: 'toolProgress', ...event }))
  runner.observe('warning', (event) => write({ type: 'warning', ...event }))
}

/** The last line of a turn as JSON. */
export function writeOutcome(io: Pick<Io, 'stdout'>, { outcome, calls, loss }: DrivenTurn): void {
  const { status, text, usage, conversation, turnId, gates, reason } = outcome
  writeJson(io, {
    type: 'outcome',
    status,
    text,
    conversation,
    turnId,
    usage,
    ...(reason && { reason }),
    ...(loss !== undefined && { loss }),
    gates,
    toolCalls: calls.map((call) => call.toJSON()),
  })
}

/** Artifacts are named by their digest; their bytes stay where they are. */
function plainResults(results: unknown): unknown {
  if (Array.isArray(results)) return results.map(plainResults)
  return isArtifact(results) ? results.toJSON() : results
}
