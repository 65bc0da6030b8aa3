import { SpooledArtifact } from '../src/artifacts/spooled-artifact.ts'
import { isBobbinError } from '../src/core/error/error.ts'

/** The answer to a question about an artifact through a forged tool, or `Error: ` and why the call fails. */
export async function askArtifact(
  artifact: SpooledArtifact,
  name: string,
  args: object = {},
): Promise<string> {
  const call = { id: 'c', results: artifact }
  const tool = SpooledArtifact.forgeTools({ turnToolCalls: [call] }).get(`artifact_${name}`)
  const answer = await tool
    ?.executor()({ callId: 'c', ...args })
    .catch(failureText)
  if (typeof answer !== 'string') throw new Error(`artifact_${name} gave no answer`)
  return answer
}

/** The reason of a failed call; arguments that are refused are another matter. */
export function failureText(error: unknown): string {
  if (isBobbinError(error, 'E_TOOL_DOWNSTREAM_ERROR'))
    return `Error: ${(error.cause as Error).message}`
  throw error
}
