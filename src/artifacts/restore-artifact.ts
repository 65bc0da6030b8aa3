import * as v from 'valibot'
import { BobbinError } from '../core/error/error.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import { lazySpoolReader } from '../spool/lazy-reader.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { SpooledArtifact } from './spooled-artifact.ts'
import { SpooledJsonArtifact } from './spooled-json-artifact.ts'
import { SpooledLink } from './spooled-link.ts'
import { SpooledMarkdownArtifact } from './spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from './spooled-table-artifact.ts'

/** Where the bytes of restored records lie, and which classes of the user's may wrap them. */
export interface RestoreContext {
  readonly spool?: Pick<SpoolStore, 'read'>
  readonly artifacts?: readonly SpooledArtifactConstructor[]
}

const BUILT_IN: readonly SpooledArtifactConstructor<SpooledArtifact>[] = [
  SpooledArtifact,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  SpooledTableArtifact,
  SpooledLink,
]

const storedArtifactSchema = v.strictObject({
  $artifact: v.strictObject({
    kind: v.string(),
    sha256: v.string(),
    byteLength: v.number(),
    lineCount: v.number(),
  }),
})

/** True for the stored form of an artifact. */
export function isStoredArtifact(json: unknown): boolean {
  return v.is(storedArtifactSchema, json)
}

/** Turns a stored reference back into an artifact; its bytes are opened on first use. */
export function restoreArtifact(json: unknown, context: RestoreContext): SpooledArtifact {
  const { kind, sha256: digest, ...size } = v.parse(storedArtifactSchema, json).$artifact
  const Class = [...(context.artifacts ?? []), ...BUILT_IN].find((known) => known.kind === kind)
  if (Class === undefined) {
    throw unresolved(
      digest,
      `is of kind \`${kind}\`, which no class here has: pass it in \`artifacts\``,
    )
  }
  return new Class(
    lazySpoolReader(requireSpool(context, digest), { digest, ...size }),
  ) as SpooledArtifact
}

/** The spool of a context, or an error that says which reference needs it. */
export function requireSpool(context: RestoreContext, reference: string): Pick<SpoolStore, 'read'> {
  if (context.spool !== undefined) return context.spool
  throw unresolved(reference, 'lies on a spool: pass `{ spool }` to restore it')
}

function unresolved(reference: string, what: string): BobbinError {
  const message = `The stored reference \`${reference}\` ${what}.`
  return new BobbinError('E_UNRESOLVED_REFERENCE', message, { reference })
}
