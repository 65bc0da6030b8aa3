import { brandOf, isInstanceOf } from '../core/error/brand.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { SpoolReader } from './spool-reader.ts'

/** What the layers below the artifact classes need to know of an artifact. */
export interface Artifact {
  readonly kind: string
  readonly digest: string
  byteLength(): number
  lineCount(): number
  toJSON(): JsonObject
}

/** A class that wraps spooled text; `SpooledArtifact` and everything that extends it. */
export interface SpooledArtifactConstructor<A extends Artifact = Artifact> {
  /** The name under which stored references find the class again. */
  readonly kind: string
  new (reader: SpoolReader): A
}

/** True for an instance of `SpooledArtifact` or a subclass, from any copy of the package. */
export function isArtifact(value: unknown): value is Artifact {
  return isInstanceOf(value, 'SpooledArtifact')
}

/** True for `SpooledArtifact` itself or a class that extends it. */
export function isArtifactConstructor(value: unknown): value is SpooledArtifactConstructor {
  if (typeof value !== 'function') return false
  const prototype: unknown = value.prototype
  return (
    typeof prototype === 'object' && prototype !== null && brandOf('SpooledArtifact') in prototype
  )
}
