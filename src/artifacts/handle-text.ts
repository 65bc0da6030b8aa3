import { brief } from '../core/error/cut-text.ts'
import { isBobbinError } from '../core/error/error.ts'
import { type Artifact, isArtifact } from '../spool/artifact.ts'
import { queriesOf } from './query/query.ts'

const PREVIEW_CHARS = 800
const MAX_LISTED = 20

/** What names the call to the model. */
export interface HandleTarget {
  readonly callId: string
}

/** What the model sees instead of the content: what there is, how big, and which tools read it. */
export async function handleText(
  results: Artifact | readonly Artifact[],
  { callId }: HandleTarget,
): Promise<string> {
  if (isArtifact(results)) {
    return [
      `The result is kept out of the prompt: ${sizeOf(results)}.`,
      ...(await structureOf(results)),
      `Read it with callId ${JSON.stringify(callId)} and ${toolsOf(results)}.`,
    ].join('\n')
  }
  const shown = await Promise.all(results.slice(0, MAX_LISTED).map(listedArtifact))
  const hidden = results.length - shown.length
  return [
    `The ${results.length} results are kept out of the prompt:`,
    ...shown,
    ...(hidden > 0 ? [`… and ${hidden} more, up to index ${results.length - 1}`] : []),
    `Read them with callId ${JSON.stringify(callId)}, the index, and the tools named.`,
  ].join('\n')
}

async function listedArtifact(artifact: Artifact, index: number): Promise<string> {
  const structure = (await structureOf(artifact)).map((line) => `  ${brief(line, 200)}`)
  return [`- index ${index}: ${sizeOf(artifact)}; ${toolsOf(artifact)}`, ...structure].join('\n')
}

function sizeOf(artifact: Artifact): string {
  const lines = artifact.lineCount()
  return `kind ${artifact.kind}, ${artifact.byteLength()} bytes, ${lines} ${lines === 1 ? 'line' : 'lines'}`
}

const toolsOf = (artifact: Artifact) =>
  [...queriesOf(artifact.constructor).keys()].map((name) => `artifact_${name}`).join(', ')

async function structureOf(artifact: Artifact): Promise<string[]> {
  if (!hasPreview(artifact)) return []
  try {
    const preview = await artifact.preview()
    if (!preview) return []
    return [`Structure: ${brief(preview, PREVIEW_CHARS).toWellFormed()}`]
  } catch (error) {
    // A tool may promise JSON and write something else; the model is better told than left out.
    if (!isBobbinError(error, 'E_ARTIFACT_MALFORMED')) throw error
    return [`Structure: unknown. ${error.message}`]
  }
}

/** An artifact of another copy of the package may be of a version that has none. */
function hasPreview(
  artifact: Artifact,
): artifact is Artifact & { preview(): Promise<string | undefined> } {
  return 'preview' in artifact && typeof artifact.preview === 'function'
}
