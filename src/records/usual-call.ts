import type * as v from 'valibot'
import { knownChecksum } from '../core/argument-facts.ts'
import { dateField } from '../core/fields.ts'
import type { JsonObject } from '../core/json.ts'
import { shortcutOf } from '../core/shortcut.ts'
import { TRUST_TIERS } from '../core/trust.ts'
import { wireReferenceField } from '../core/wire-reference.ts'
import { isOneResult } from './tool-call-results.ts'
import { type RawToolCall, SETTLEMENTS, type toolCallSchema } from './tool-call-schema.ts'

const readWire = shortcutOf(wireReferenceField)
const readDate = shortcutOf(dateField)

/** Nothing said about how to read. */
const PLAINLY: v.Config<v.BaseIssue<unknown>> = {}

/** How many fields the record of nearly every call is given, besides `wire`. */
const USUAL_FIELDS = 13

/**
 * Reads the record that a runner makes of nearly every call: these fields and no others, arguments whose
 * checksum is known. Going through the schema field by field takes several times as long.
 */
export function fillUsual(target: object, input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  if (Object.getPrototypeOf(input) !== Object.prototype) return false
  const raw: Partial<RawToolCall> = input
  // Each is read once: a getter could give something else the second time.
  const { id, tool, args, checksum, results, isComplete, isError, settlement } = raw
  const { inline, fromArtifactTool, trust, wire: given, createdAt, completedAt } = raw
  const begun = readDate?.(createdAt, PLAINLY)
  const ended = readDate?.(completedAt, PLAINLY)
  const wire = given === undefined ? undefined : readWire?.(given, PLAINLY)
  const isUsual =
    typeof id === 'string' &&
    id !== '' &&
    typeof tool === 'string' &&
    typeof args === 'object' &&
    args !== null &&
    checksum !== undefined &&
    checksum === knownChecksum(args, tool) &&
    isOneResult(results) &&
    isComplete === true &&
    settlement !== undefined &&
    SETTLEMENTS.includes(settlement) &&
    isError === (settlement !== 'ok') &&
    typeof inline === 'boolean' &&
    fromArtifactTool === false &&
    trust !== undefined &&
    TRUST_TIERS.includes(trust) &&
    begun !== undefined &&
    ended !== undefined &&
    // Hidden ones count too: a field that is one would make room for a field that is none of these.
    Object.getOwnPropertyNames(input).length === USUAL_FIELDS + (wire === undefined ? 0 : 1)
  if (!isUsual) return false
  const call = target as v.InferOutput<typeof toolCallSchema>
  call.id = id
  call.tool = tool
  call.args = args as JsonObject
  call.checksum = checksum
  call.results = results
  call.isComplete = isComplete
  call.isError = isError
  call.settlement = settlement
  call.executedBy = 'runner'
  call.inline = inline
  call.fromArtifactTool = fromArtifactTool
  call.trust = trust
  if (wire !== undefined) call.wire = wire
  call.createdAt = begun
  call.updatedAt = ended
  call.completedAt = ended
  return true
}
