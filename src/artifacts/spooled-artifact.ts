import { brandOf, isInstanceOf } from '../core/brand.ts'
import { BobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Artifact } from '../spool/artifact.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'

/** Characters that `asString` gives at most unless told otherwise. */
const DEFAULT_TEXT_LIMIT = 1_000_000

/** Tool output on a spool: the model holds a handle and pulls thread from it. */
export class SpooledArtifact implements Artifact {
  /** The name under which stored references find the class again. */
  static readonly kind: string = 'text'

  readonly #reader: SpoolReader

  constructor(reader: SpoolReader) {
    this.#reader = reader
    Object.freeze(this)
  }

  static isSpooledArtifact(value: unknown): value is SpooledArtifact {
    return isInstanceOf(value, 'SpooledArtifact')
  }

  get kind(): string {
    return (this.constructor as typeof SpooledArtifact).kind
  }

  get digest(): string {
    return this.#reader.digest
  }

  byteLength(): number {
    return this.#reader.byteLength
  }

  lineCount(): number {
    return this.#reader.lineCount
  }

  /** The whole text, refused above `limit` bytes. */
  async asString(limit = DEFAULT_TEXT_LIMIT): Promise<string> {
    const actual = this.byteLength()
    if (actual > limit) {
      const message = `The artifact has ${actual} bytes, more than the limit of ${limit}: read a part with \`cat\` or \`grep\`, or raise the limit.`
      throw new BobbinError('E_LIMIT_EXCEEDED', message, { what: 'asString', limit, actual })
    }
    return new TextDecoder().decode(await this.#reader.read(0, actual))
  }

  /** A reference by content: class, digest and size. The bytes stay on the spool. */
  toJSON(): JsonObject {
    return {
      $artifact: {
        kind: this.kind,
        sha256: this.digest,
        byteLength: this.byteLength(),
        lineCount: this.lineCount(),
      },
    }
  }

  [brandOf('SpooledArtifact')](): boolean {
    return #reader in this
  }
}
