import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../artifacts/spooled-json-artifact.ts'
import { BobbinError } from '../core/error.ts'
import type { JsonValue } from '../core/json.ts'
import { normalizeJson } from '../core/strict-json.ts'
import type { ToolCallResults } from '../records/tool-call-results.ts'
import { isArtifact, type SpooledArtifactConstructor } from '../spool/artifact.ts'
import { Media } from '../spool/media.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import type { SpoolInput } from '../spool/spool-store.ts'
import { holdErrors } from '../spool/unread-stream.ts'
import { MAX_BLOB_BYTES } from '../store/store.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { ArtifactTool } from '../tools/artifact-tool.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolOutput } from '../tools/tool-context.ts'
import type { ResultSpool } from './small-results.ts'

interface OutputSpool
  extends Pick<ResultSpool, 'write' | 'has'>,
    Partial<Pick<ResultSpool, 'writeNow'>> {
  /** Takes out of a value what must not be stored; what is left is JSON still, which no text can promise. */
  clean?(value: JsonValue): JsonValue
}

const OUTPUT = { root: 'output', code: 'E_INVALID_OUTPUT' } as const
/** JSON output may be large: it goes to the spool, not into the prompt. */
const OUTPUT_LIMITS = { depth: 500, chars: 512 * 1024 * 1024 }

/**
 * Turns what a handler returned into one of the three silos: text of artifact tools, media as they
 * are, everything else wound onto the spool and wrapped.
 */
export function settleOutput(
  tool: Tool,
  output: ToolOutput,
  spool: OutputSpool,
  abort?: Abort,
): ToolCallResults | Promise<ToolCallResults> {
  const answersInText: boolean = ArtifactTool.isArtifactTool(tool)
  if (answersInText) return new Tokenizable(output as string)
  if (typeof output === 'string') return wound(tool, output, spool, abort)
  if (Media.isMedia(output)) return output.spooled(spool, optionsOf(abort))
  if (isArtifact(output)) return ownArtifact(output as SpooledArtifact, spool)
  if (isSpoolInput(output)) {
    holdErrors(output)
    return wound(tool, output, spool, abort)
  }
  if (Array.isArray(output) && output.some(isFinished)) return settleList(output, spool, abort)
  const Class = tool.artifactConstructor?.() ?? SpooledJsonArtifact
  const json = jsonText(output, spool)
  const small = spool.writeNow?.(json)
  if (small !== undefined) return new Class(small) as SpooledArtifact
  return spool.write(json).then((reader) => new Class(reader) as SpooledArtifact)
}

/** Whoever can be told to stop. The signal is made when it is read, which what is small spares. */
interface Abort {
  readonly signal: AbortSignal
}

const optionsOf = (abort: Abort | undefined) => abort && { signal: abort.signal }

function wound(
  tool: Tool,
  output: SpoolInput,
  spool: OutputSpool,
  abort: Abort | undefined,
): SpooledArtifact | Promise<SpooledArtifact> {
  const Class = tool.artifactConstructor?.() ?? SpooledArtifact
  const small = typeof output === 'string' ? spool.writeNow?.(output) : undefined
  if (small !== undefined) return new Class(small) as SpooledArtifact
  const isBrief = typeof output === 'string' && output.length <= MAX_BLOB_BYTES
  const reading = isBrief ? spool.write(output) : spool.write(output, optionsOf(abort))
  return reading.then((reader) => new Class(reader) as SpooledArtifact)
}

/** An artifact whose bytes lie elsewhere is copied: a record must not refer to what may be gone. */
async function ownArtifact(
  artifact: SpooledArtifact,
  spool: OutputSpool,
): Promise<SpooledArtifact> {
  if (await spool.has(artifact.digest)) return artifact
  // Only subclasses are meant to read the spool below; copying it is the one other use.
  const { reader } = artifact as unknown as { readonly reader: SpoolReader }
  const Class = artifact.constructor as SpooledArtifactConstructor
  return new Class(await spool.write(reader.stream())) as SpooledArtifact
}

const isFinished = (value: unknown) => Media.isMedia(value) || isArtifact(value)

async function settleList(
  list: readonly unknown[],
  spool: OutputSpool,
  abort: Abort | undefined,
): Promise<ToolCallResults> {
  if (list.every(Media.isMedia)) {
    const options = optionsOf(abort)
    return Promise.all(list.map((media) => media.spooled(spool, options)))
  }
  if (list.every(isArtifact)) {
    return Promise.all(list.map((artifact) => ownArtifact(artifact as SpooledArtifact, spool)))
  }
  const rule = 'a list of results must hold artifacts only or media only'
  const message = `The tool returned a mixed list: ${rule}. Return one kind, or one JSON value.`
  throw new BobbinError('E_INVALID_OUTPUT', message, { path: 'output', rule })
}

function isSpoolInput(output: ToolOutput): output is SpoolInput {
  if (typeof output === 'string' || output instanceof Uint8Array) return true
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return false
  return output instanceof ReadableStream || Symbol.asyncIterator in output
}

/** Two spaces of indentation, so that a model can read, grep and page the JSON by lines. */
function jsonText(output: unknown, spool: OutputSpool): string {
  const value = normalizeJson(output === undefined ? null : output, OUTPUT, OUTPUT_LIMITS)
  return JSON.stringify(spool.clean === undefined ? value : spool.clean(value), null, 2)
}
