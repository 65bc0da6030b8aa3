import type { DateTime } from 'luxon'
import type * as v from 'valibot'
import type { RestoreContext } from '../artifacts/restore-artifact.ts'
import type { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { isInstanceOf } from '../core/error/brand.ts'
import type { JsonObject } from '../core/json/json.ts'
import { record } from '../core/record.ts'
import type { TrustTier } from '../core/trust.ts'
import type { ProviderData, WireReference } from '../core/wire-reference.ts'
import type { ApprovedBy } from './approved-by.ts'
import type { PlacedMedia } from './placed-media.ts'
import { restoreResults, type ToolCallResults } from './tool-call-results.ts'
import { type RawToolCall, type Settlement, toolCallSchema } from './tool-call-schema.ts'

export { type RawToolCall, SETTLEMENTS, type Settlement } from './tool-call-schema.ts'

/** One settled tool call: immutable, validated, named by content. */
export class ToolCall
  extends record('ToolCall', 'E_INVALID_INITIAL_TOOL_CALL_VALUE', toolCallSchema)
  implements Readonly<v.InferOutput<typeof toolCallSchema>>
{
  /** Correlates the request with its result; unique in the conversation. */
  declare readonly id: string
  /** The tool's name as the model gave it. */
  declare readonly tool: string
  /** The arguments as the model supplied them, as deep-frozen JSON. */
  declare readonly args: JsonObject
  /** SHA-256 of the canonical JSON of `tool` and `args`; a supplied one is verified. */
  declare readonly checksum: string
  /** The arguments that the handler received, if validation changed them. */
  declare readonly effectiveArgs?: JsonObject | undefined
  /** The exact text received, if it could not be parsed. */
  declare readonly rawArgs?: string | SpooledArtifact | undefined
  /** The result, or the detail of the error: artifacts, media or text. */
  declare readonly results: ToolCallResults
  /** Media of a result that also has text, each with its place among the parts of the result. */
  declare readonly media?: readonly PlacedMedia[] | undefined
  /** Always true: a call that still runs has no record. */
  declare readonly isComplete: true
  declare readonly isError: boolean
  /** How the call ended; `ok` exactly when `isError` is false. */
  declare readonly settlement: Settlement
  /** Who ran the tool. */
  declare readonly executedBy: 'runner' | 'provider' | 'external'
  /** Whether the result is rendered in the prompt or shown as a handle. */
  declare readonly inline: boolean
  /** True for answers of artifact tools, which other artifact tools cannot query. */
  declare readonly fromArtifactTool: boolean
  /** Set when the result is produced; it can only be lowered afterwards. */
  declare readonly trust: TrustTier
  /** Where the call came from, with the provider's own ids. */
  declare readonly wire?: WireReference | undefined
  /** Opaque state for the provider that made the call. */
  declare readonly providerData?: ProviderData | undefined
  /** What allowed it, if it needed approval: the decision on a gate, or a standing approval. */
  declare readonly approvedBy?: ApprovedBy | undefined
  /** The id of the record whose arguments a person edited into these. */
  declare readonly editOf?: string | undefined
  /** The id of the record in doubt that this one settles. */
  declare readonly supersedes?: string | undefined
  declare readonly undoes?: string | undefined
  /** Paths whose values were removed before storing; the checksum is then not recomputed. */
  declare readonly redacted?: readonly string[] | undefined
  /** When the call was announced. */
  declare readonly createdAt: DateTime<true>
  declare readonly updatedAt: DateTime<true>
  declare readonly completedAt: DateTime<true>

  static isToolCall(value: unknown): value is ToolCall {
    return isInstanceOf(value, 'ToolCall')
  }

  /** Restores a stored record; artifacts and media are found again in `context.spool`. */
  static fromJSON(json: unknown, context: RestoreContext = {}): ToolCall {
    return new ToolCall(restoreResults(json, context) as RawToolCall)
  }
}
