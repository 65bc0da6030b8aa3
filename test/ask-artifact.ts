import { SpooledArtifact } from '../src/artifacts/spooled-artifact.ts'

/** What a model is answered when it asks about an artifact through a forged tool. */
export async function askArtifact(
  artifact: SpooledArtifact,
  name: string,
  args: object = {},
): Promise<string> {
  const call = { id: 'c', results: artifact }
  const tool = SpooledArtifact.forgeTools({ turnToolCalls: [call] }).get(`artifact_${name}`)
  const answer = await tool?.executor()({ callId: 'c', ...args })
  if (typeof answer !== 'string') throw new Error(`artifact_${name} gave no answer`)
  return answer
}
