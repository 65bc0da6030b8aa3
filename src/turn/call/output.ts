import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../artifacts/spooled-json-artifact.ts'
import { BobbinError } from '../../core/error/error.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { normalizeJson } from '../../core/json/strict-json.ts'
import type { PlacedMedia } from '../../records/placed-media.ts'
import type { ToolCallResults } from '../../records/tool-call-results.ts'
import { isArtifact, type SpooledArtifactConstructor } from '../../spool/artifact.ts'
import { checkedBytes } from '../../spool/checked-bytes.ts'
import { Media } from '../../spool/media.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import type { SpoolInput } from '../../spool/spool-store.ts'
import { holdErrors } from '../../spool/unread-stream.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import { ArtifactTool } from '../../tools/artifact-tool.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolOutput } from '../../tools/tool-context.ts'
import type { CallLimit } from '../limits/cut-off.ts'
import type { ResultSpool } from '../log/small-results.ts'
import type { SecretScrubber } from './secret-scrubber.ts'

/**
 * The only way for results to the spool. It removes the secrets of all calls: one call may return a secret that another
 * one received.
 */
export interface CallOutput extends Pick<ResultSpool, 'write' | 'has'> {
  /** Gives a secret and remembers it; absent when the runner has no `secrets`. */
  readonly secret?: (name: string) => Promise<string>
  text(text: string): string
  json(value: JsonValue): JsonValue
}

export const callOutput = (results: ResultSpool, scrubber: SecretScrubber): CallOutput => ({
  ...(scrubber.secret && { secret: scrubber.secret }),
  has: (digest) => results.has(digest),
  write: (data, options) => results.write(scrubber.data(data), options),
  text: scrubber.text,
  json: scrubber.json,
})

/** The results of a call, and the media that came beside texts, with their places. */
interface Results {
  readonly results: ToolCallResults
  readonly media?: readonly PlacedMedia[] | undefined
}

const OUTPUT = { root: 'output', code: 'E_INVALID_OUTPUT' } as const
/** JSON output may be large: it goes to the spool, not into the prompt. */
const OUTPUT_LIMITS = { depth: 500, chars: 512 * 1024 * 1024 }

/**
 * Turns the output of a handler into results: text of artifact tools stays text, media stay media, everything else goes to
 * the spool and becomes an artifact.
 */
export async function outputOf(
  tool: Tool,
  output: ToolOutput,
  spool: CallOutput,
  limit: Pick<CallLimit, 'signal'>,
): Promise<Results> {
  const isMixed =
    Array.isArray(output) && output.some(Media.isMedia) && !ArtifactTool.isArtifactTool(tool)
  if (isMixed) return listOf(tool, output, spool, limit)
  return { results: await resultOf(tool, output, spool, limit) }
}

/** Everything but a list with media. */
async function resultOf(
  tool: Tool,
  output: ToolOutput,
  spool: CallOutput,
  limit: Pick<CallLimit, 'signal'>,
): Promise<ToolCallResults> {
  const answersInText: boolean = ArtifactTool.isArtifactTool(tool)
  if (answersInText) return new Tokenizable(spool.text(output as string))
  if (Media.isMedia(output)) return ownMedia(output, spool, limit)
  if (isArtifact(output)) return ownArtifact(output as SpooledArtifact, spool)
  if (isSpoolInput(output)) {
    holdErrors(output)
    const Class = tool.artifactConstructor?.() ?? SpooledArtifact
    return new Class(await spool.write(output, limit)) as SpooledArtifact
  }
  if (Array.isArray(output) && output.some(isArtifact)) return artifactsOf(output, spool)
  const Class = tool.artifactConstructor?.() ?? SpooledJsonArtifact
  return new Class(await spool.write(jsonText(output, spool))) as SpooledArtifact
}

const ownMedia = (media: Media, spool: CallOutput, limit: Pick<CallLimit, 'signal'>) =>
  withoutSecrets(media, spool).spooled(spool, limit)

/** The media, under a name without secrets. */
function withoutSecrets(media: Media, { text }: Pick<CallOutput, 'text'>): Media {
  const { kind, mimeType, trustTier, modalityHazard, digest, byteLength } = media
  const filename = text(media.filename)
  if (filename === media.filename) return media
  const reader = {
    stream: () => media.stream(),
    ...(digest !== undefined && { digest }),
    ...(byteLength !== undefined && { byteLength }),
  }
  return new Media({ kind, mimeType, filename, trustTier, modalityHazard, reader })
}

/** Results that a layer made itself: their bytes are on the spool already, their texts and names are not clean yet. */
export function cleanResults({ results, media }: Results, output: CallOutput): Results {
  const clean = (each: unknown) => (Media.isMedia(each) ? withoutSecrets(each, output) : each)
  const beside = media?.map((one) => ({ ...one, media: withoutSecrets(one.media, output) }))
  const placed = beside && { media: beside }
  if (Tokenizable.isTokenizable(results)) {
    const text = output.text(results.text)
    return { results: text === results.text ? results : new Tokenizable(text), ...placed }
  }
  const list = (Array.isArray(results) ? results.map(clean) : clean(results)) as ToolCallResults
  return { results: list, ...placed }
}

/** Copies an artifact whose bytes are on another spool: they might disappear there. */
async function ownArtifact(artifact: SpooledArtifact, spool: CallOutput): Promise<SpooledArtifact> {
  if (await spool.has(artifact.digest)) return artifact
  // The reader is meant for subclasses; this copy is the only other use.
  const { reader } = artifact as unknown as { readonly reader: SpoolReader }
  const Class = artifact.constructor as SpooledArtifactConstructor
  return new Class(
    await spool.write(checkedBytes(reader.stream(), artifact.digest)),
  ) as SpooledArtifact
}

function artifactsOf(
  list: readonly unknown[],
  spool: CallOutput,
): Promise<readonly SpooledArtifact[]> {
  if (list.every(isArtifact)) {
    return Promise.all(list.map((artifact) => ownArtifact(artifact as SpooledArtifact, spool)))
  }
  const rule = 'a list with artifacts must hold only artifacts, or also hold media'
  const message = `The tool returned a mixed list: ${rule}. Return one kind, or one JSON value.`
  throw new BobbinError('E_INVALID_OUTPUT', message, { path: 'output', rule })
}

/** A list with media: media alone are the results; beside texts, artifacts or JSON values they keep their places. */
async function listOf(
  tool: Tool,
  list: readonly unknown[],
  spool: CallOutput,
  limit: Pick<CallLimit, 'signal'>,
): Promise<Results> {
  const media: PlacedMedia[] = []
  const artifacts: SpooledArtifact[] = []
  for (const [place, one] of list.entries()) {
    if (Media.isMedia(one)) media.push({ place, media: await ownMedia(one, spool, limit) })
    else artifacts.push(await artifactOf(tool, one as ToolOutput, place, spool, limit))
  }
  if (artifacts.length === 0) return { results: media.map((one) => one.media) }
  const [only] = artifacts
  return { results: artifacts.length === 1 && only ? only : artifacts, media }
}

/** One text, artifact or JSON value of a list. */
async function artifactOf(
  tool: Tool,
  one: ToolOutput,
  place: number,
  spool: CallOutput,
  limit: Pick<CallLimit, 'signal'>,
): Promise<SpooledArtifact> {
  if (Array.isArray(one) && (one.some(Media.isMedia) || one.some(isArtifact))) {
    const rule = 'a list inside a list must be plain JSON'
    const message = `The tool returned media or artifacts inside \`output[${place}]\`: ${rule}. Return one flat list.`
    throw new BobbinError('E_INVALID_OUTPUT', message, { path: `output[${place}]`, rule })
  }
  return (await resultOf(tool, one, spool, limit)) as SpooledArtifact
}

function isSpoolInput(output: ToolOutput): output is SpoolInput {
  if (typeof output === 'string' || output instanceof Uint8Array) return true
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return false
  return output instanceof ReadableStream || Symbol.asyncIterator in output
}

/** Two spaces of indentation, so that a model can read, grep and page the JSON by lines. */
function jsonText(output: unknown, spool: CallOutput): string {
  const value = normalizeJson(output === undefined ? null : output, OUTPUT, OUTPUT_LIMITS)
  return JSON.stringify(spool.json(value), null, 2)
}
