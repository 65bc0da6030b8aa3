import * as v from 'valibot'
import {
  isStoredArtifact,
  type RestoreContext,
  requireSpool,
  restoreArtifact,
} from '../artifacts/restore-artifact.ts'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { Media } from '../spool/media.ts'
import { Tokenizable } from '../text/tokenizable.ts'

/** The three silos: artifacts of ordinary tools, media, and text of artifact tools or errors. */
export type ToolCallResults =
  | SpooledArtifact
  | readonly SpooledArtifact[]
  | Media
  | readonly Media[]
  | Tokenizable

const RULE =
  'must be a SpooledArtifact, a Media, a non-empty array of one of them, or a Tokenizable'

/** The results of a call. A plain string is text. */
export const resultsField = v.pipe(
  v.custom<ToolCallResults | string>((input) => input !== undefined && input !== null, RULE),
  v.rawTransform<ToolCallResults | string, ToolCallResults>(({ dataset, addIssue, NEVER }) => {
    const { value } = dataset
    if (typeof value === 'string') return new Tokenizable(value)
    if (!Array.isArray(value)) {
      if (isOneResult(value)) return value
      addIssue({ message: RULE })
      return NEVER
    }
    const list: readonly unknown[] = value
    const fault = arrayFault(list)
    if (fault === undefined) return Object.freeze([...list]) as ToolCallResults
    addIssue({ message: fault })
    return NEVER
  }),
)

/** The text of unparsable arguments, or the artifact that holds it when it is long. */
export const rawArgsField = v.custom<string | SpooledArtifact>(
  (input) => typeof input === 'string' || SpooledArtifact.isSpooledArtifact(input),
  'must be the text received, or the artifact that holds it',
)

/** Whether a value is a result by itself, no list of them. */
function isOneResult(value: unknown): value is SpooledArtifact | Media | Tokenizable {
  return (
    SpooledArtifact.isSpooledArtifact(value) ||
    Media.isMedia(value) ||
    Tokenizable.isTokenizable(value)
  )
}

function arrayFault(values: readonly unknown[]): string | undefined {
  if (values.length === 0) return `${RULE}; this array is empty`
  const artifacts = values.filter(SpooledArtifact.isSpooledArtifact).length
  const media = values.filter(Media.isMedia).length
  if (artifacts === values.length || media === values.length) return undefined
  return artifacts + media === values.length ? `${RULE}; this array mixes both` : RULE
}

/** Replaces the stored references in a record's JSON by what they refer to. */
export function restoreResults(json: unknown, context: RestoreContext): unknown {
  if (typeof json !== 'object' || json === null) return json
  const restored: Record<string, unknown> = { ...json }
  for (const key of ['results', 'rawArgs']) {
    const value = restored[key]
    if (value !== undefined) {
      restored[key] = Array.isArray(value)
        ? value.map((part) => restorePart(part, context))
        : restorePart(value, context)
    }
  }
  const { media } = restored
  if (Array.isArray(media)) {
    restored['media'] = media.map((one: { readonly media?: unknown } | null) => ({
      ...one,
      media: restorePart(one?.media, context),
    }))
  }
  return restored
}

function restorePart(json: unknown, context: RestoreContext): unknown {
  if (isStoredArtifact(json)) return restoreArtifact(json, context)
  if (Media.isStored(json)) return Media.fromJSON(json, { spool: requireSpool(context, 'media') })
  return json
}
