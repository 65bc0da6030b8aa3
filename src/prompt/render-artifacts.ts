import type { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { CallRendering } from './call-rendering.ts'
import type { RenderedPart } from './rendered-part.ts'

/** Artifacts in full, as far as the limits go; a head and a handle beyond; or the handle alone. */
export async function artifactParts(
  rendering: CallRendering,
  several: boolean,
): Promise<{ readonly parts: readonly RenderedPart[]; readonly hasHandle: boolean }> {
  const { call, form } = rendering
  const results = call.results as SpooledArtifact | readonly SpooledArtifact[]
  const list = several ? (results as readonly SpooledArtifact[]) : [results as SpooledArtifact]
  if (form === 'full' && call.inline) {
    const { parts, isWhole } = await inlineParts(rendering, list, several)
    if (isWhole) return { parts, hasHandle: false }
    return { parts: [...parts, await handlePart(rendering, results)], hasHandle: true }
  }
  return { parts: [await handlePart(rendering, results)], hasHandle: true }
}

async function handlePart(
  { call, options, wrap }: CallRendering,
  results: SpooledArtifact | readonly SpooledArtifact[],
): Promise<RenderedPart> {
  return wrap({ role: 'handle', body: await options.handleText(results, { callId: call.id }) })
}

async function inlineParts(
  { limits, options, wrap }: CallRendering,
  artifacts: readonly SpooledArtifact[],
  several: boolean,
): Promise<{ readonly parts: RenderedPart[]; readonly isWhole: boolean }> {
  const parts: RenderedPart[] = []
  let room = limits.inlineBytes
  let isWhole = true
  for (const [place, artifact] of artifacts.entries()) {
    const index = several ? place : undefined
    const size = artifact.byteLength()
    if (size <= room) {
      parts.push(wrap({ body: await artifact.asString(room), index }))
      room -= size
      continue
    }
    isWhole = false
    if (room === 0) break
    const body = await options.readHead(artifact, Math.min(limits.headBytes, room))
    const shown = new TextEncoder().encode(body).length
    parts.push(wrap({ body, index, details: { 'shown-bytes': shown, 'total-bytes': size } }))
    room = Math.max(0, room - limits.headBytes)
  }
  return { parts, isWhole }
}
