import { forgeTools } from '../../artifacts/forge-tools.ts'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../artifacts/spooled-json-artifact.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { ToolRegistry } from '../../tools/tool-registry.ts'
import { type ResultPlace, resultAt } from './resources.ts'

/** The tools that query results by their address: what `artifact_*` tools are for models of this kit. */
export function resultQueries(uri?: string, result?: unknown): ToolRegistry {
  const calls = uri === undefined ? [] : [{ id: uri, results: result }]
  const classes = [SpooledJsonArtifact, SpooledArtifact]
  return forgeTools({ turnToolCalls: calls }, { classes, fits: () => true })
}

/** The answer to a query; its `callId` is the address of a result. Undefined if there is no such tool. */
export async function askResult(
  place: ResultPlace,
  name: string,
  args: JsonObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (resultQueries().get(name) === undefined) return undefined
  const uri = typeof args['callId'] === 'string' ? args['callId'] : ''
  const result = await resultAt(place, uri)
  const tool = resultQueries(uri, result).get(name)
  return (await tool?.executor({ signal })(args)) as string
}
