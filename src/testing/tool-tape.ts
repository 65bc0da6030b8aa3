import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../artifacts/spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from '../artifacts/spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from '../artifacts/spooled-table-artifact.ts'
import { base64ToBytes, bytesToBase64 } from '../core/base64.ts'
import { checksum as checksumOf } from '../core/checksum.ts'
import { concatBytes } from '../core/concat-bytes.ts'
import { isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Settlement, ToolCall } from '../records/tool-call.ts'
import type { ToolCallResults } from '../records/tool-call-results.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import { Media } from '../spool/media.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { CallSubject, Middleware } from '../turn/call/middleware.ts'
import { scriptError } from './script-error.ts'

/** One call on a tape: plain JSON, so that a tape can be kept as a file. */
export interface TapedCall {
  readonly tool: string
  readonly args: JsonObject
  readonly checksum: string
  readonly settlement: Settlement
  readonly results: TapedText | TapedPart | readonly TapedPart[]
  /** Media that the call gave beside its results. */
  readonly media?: readonly { readonly place: number; readonly media: TapedPart }[]
}

interface TapedText {
  readonly type: 'text'
  readonly text: string
}

type TapedPart =
  | { readonly type: 'artifact'; readonly kind: string; readonly text: string }
  | { readonly type: 'media'; readonly stored: JsonObject; readonly base64: string }

/** Records what tools gave, and gives the same again to the same calls without running anything. */
export interface ToolTape {
  /** The recorded calls; while replaying, the calls that are left. */
  readonly calls: readonly TapedCall[]
  /** Lets every call run and keeps what it gave. */
  readonly record: Middleware
  /** Answers every call from the tape, by checksum; a call that is not on it is refused. */
  readonly replay: Middleware
  /** Throws `E_SCRIPT` when a replayed call was not on the tape or a taped one was never asked for. */
  done(): void
}

const BUILT_IN: readonly SpooledArtifactConstructor[] = [
  SpooledArtifact,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  SpooledTableArtifact,
]

/** The largest result that a tape keeps. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024

/** A tape, empty or with calls that were recorded before; `artifacts` are classes of the test's own. */
export function toolTape(
  options: {
    readonly calls?: readonly TapedCall[]
    readonly artifacts?: readonly SpooledArtifactConstructor[]
  } = {},
): ToolTape {
  requireOptions('toolTape', options)
  const { artifacts = [] } = options
  const calls = listOf<TapedCall>('calls', options.calls)
  checkCalls(calls)
  if (!listOf('artifacts', artifacts).every((Class) => typeof Class === 'function')) {
    throw wrongInput('toolTape', 'artifacts', 'must be a list of classes')
  }
  const left = [...calls]
  /** When each call was asked for: identical calls differ in nothing else. */
  const order = calls.map(() => 0)
  let asked = 0
  const unexpected: string[] = []
  let isReplaying = false
  return {
    calls,
    record: {
      async call(_, next) {
        const turn = ++asked
        const call = await next()
        const entry = await taped(call)
        const later = order.findIndex((other) => other > turn)
        const place = later < 0 ? calls.length : later
        calls.splice(place, 0, entry)
        order.splice(place, 0, turn)
        return call
      },
    },
    replay: {
      async call(subject) {
        isReplaying = true
        const index = left.findIndex(({ checksum }) => checksum === subject.checksum)
        const [found] = index < 0 ? [] : left.splice(index, 1)
        if (found === undefined) {
          const problem = `\`${subject.tool}\` was called with arguments that are not on it`
          unexpected.push(problem)
          throw scriptError('The tape', [problem])
        }
        const given = await restored(found, subject, artifacts)
        return subject.record({ settlement: found.settlement, ...given })
      },
    },
    done() {
      const missed = isReplaying ? left.map(({ tool }) => `\`${tool}\` was never called`) : []
      const problems = [...unexpected, ...missed]
      if (problems.length > 0) throw scriptError('The tape', problems)
    },
  }
}

function listOf<T>(path: string, given: unknown = []): T[] {
  if (Array.isArray(given)) return [...(given as readonly T[])]
  throw wrongInput('toolTape', path, 'must be a list, or be left out')
}

/** A tape is a file that people edit: what it would replay must be what it says it is. */
function checkCalls(calls: readonly TapedCall[]): void {
  const problems = calls.flatMap((call, at) => {
    if (!isObject(call) || typeof call.tool !== 'string' || !isObject(call.args)) {
      return `call ${at + 1} lacks \`tool\` or \`args\`: record it anew`
    }
    return call.checksum === checksumOf(call.tool, call.args)
      ? []
      : `the checksum of call ${at + 1}, \`${call.tool}\`, is not that of its arguments: record it anew`
  })
  if (problems.length > 0) throw scriptError('The tape', problems)
}

async function taped(record: ToolCall): Promise<TapedCall> {
  const { tool, args, checksum, settlement, results } = record
  const call = { tool, args, checksum, settlement }
  if (Tokenizable.isTokenizable(results)) {
    return { ...call, results: { type: 'text', text: results.text } }
  }
  const beside = (record.media ?? []).map(async ({ place, media }) => ({
    place,
    media: await tapedPart(media),
  }))
  const media = beside.length > 0 && { media: await Promise.all(beside) }
  if (!Array.isArray(results)) {
    return { ...call, results: await tapedPart(results as Media | SpooledArtifact), ...media }
  }
  return { ...call, results: await Promise.all(results.map(tapedPart)), ...media }
}

async function tapedPart(part: Media | SpooledArtifact): Promise<TapedPart> {
  if (!Media.isMedia(part)) {
    return { type: 'artifact', kind: part.kind, text: await part.asString(MAX_TEXT_BYTES) }
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of part.stream()) chunks.push(chunk)
  return { type: 'media', stored: part.toJSON(), base64: bytesToBase64(concatBytes(chunks)) }
}

async function restored(
  { results, media: beside = [] }: TapedCall,
  subject: CallSubject,
  artifacts: readonly SpooledArtifactConstructor[],
): Promise<Pick<ToolCall, 'results' | 'media'>> {
  const one = async (part: TapedPart): Promise<Media | SpooledArtifact> => {
    if (part.type === 'media') {
      const { $media } = part.stored as { $media: Record<string, string> }
      const { kind, mimeType, filename, trustTier, modalityHazard } = $media
      const bytes = base64ToBytes(part.base64)
      const { digest } = await subject.spool(bytes)
      const reader = bytesMedia(bytes, { digest })
      const raw = { kind, mimeType, filename, trustTier, modalityHazard, reader }
      return new Media(raw as ConstructorParameters<typeof Media>[0])
    }
    const Class = [...artifacts, ...BUILT_IN].find(({ kind }) => kind === part.kind)
    return (await subject.spool(part.text, Class ?? SpooledArtifact)) as SpooledArtifact
  }
  const placed = beside.map(async ({ place, media }) => ({
    place,
    media: (await one(media)) as Media,
  }))
  const media = placed.length > 0 && { media: await Promise.all(placed) }
  if (Array.isArray(results)) {
    const list = (await Promise.all(results.map(one))) as unknown as ToolCallResults
    return { results: list, ...media }
  }
  const single = results as TapedText | TapedPart
  if (single.type === 'text') return { results: new Tokenizable(single.text) }
  return { results: await one(single), ...media }
}
