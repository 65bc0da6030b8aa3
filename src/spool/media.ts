import * as v from 'valibot'
import { brandOf, isInstanceOf } from '../core/error/brand.ts'
import { BobbinError } from '../core/error/error.ts'
import { wrongInput } from '../core/error/wrong-input.ts'
import { idField, trustField } from '../core/fields.ts'
import type { JsonObject } from '../core/json/json.ts'
import { parseOrThrow } from '../core/record.ts'
import { unwaited } from '../core/thenable.ts'
import type { TrustTier } from '../core/trust.ts'
import { checkedBytes } from './checked-bytes.ts'
import {
  fixedMediaReader,
  isMediaReader,
  type MediaReader,
  spoolMedia,
  streamMedia,
} from './media-reader.ts'
import type { SpoolStore } from './spool-store.ts'

/** What media can be. */
export const MEDIA_KINDS = ['image', 'audio', 'video', 'document'] as const
/** What decoding media can do to a model. */
export const MODALITY_HAZARDS = ['inert', 'extractable-instructions', 'opaque-perceptual'] as const

const fields = {
  kind: v.picklist(MEDIA_KINDS, `must be one of ${MEDIA_KINDS.join(', ')}`),
  mimeType: v.pipe(
    v.string('must be a MIME type such as image/png'),
    v.regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a MIME type such as image/png'),
  ),
  filename: idField,
  trustTier: trustField,
  modalityHazard: v.picklist(MODALITY_HAZARDS, `must be one of ${MODALITY_HAZARDS.join(', ')}`),
}

const READER_RULE =
  'must be a MediaReader: an object with stream(), and byteLength and digest where known'

const rawMediaSchema = v.strictObject({
  ...fields,
  // A getter may give something else the second time, so that what is kept is looked at as well.
  reader: v.pipe(
    v.custom<MediaReader>(isMediaReader, READER_RULE),
    v.transform(fixedMediaReader),
    v.check((reader: MediaReader) => isMediaReader(reader), READER_RULE),
  ),
})

const storedMediaSchema = v.strictObject({
  $media: v.strictObject({
    ...fields,
    sha256: v.string('must be a SHA-256 digest'),
    byteLength: v.number('must be a number of bytes'),
  }),
})

/** What `new Media` takes. */
export type RawMedia = v.InferInput<typeof rawMediaSchema>
type MediaFields = Omit<v.InferOutput<typeof rawMediaSchema>, 'reader'>

/** A picture, sound, film or document: its bytes are read lazily and never become text. */
export class Media implements Readonly<MediaFields> {
  /** Accepts a `Media` or its raw form and gives a `Media`. */
  static readonly schema: v.GenericSchema<RawMedia | Media, Media> = v.pipe(
    v.lazy<v.GenericSchema<RawMedia | Media, RawMedia | Media>>((input) =>
      Media.isMedia(input) ? v.custom<Media>(Media.isMedia) : rawMediaSchema,
    ),
    v.transform((input) => (Media.isMedia(input) ? input : new Media(input))),
  )

  declare readonly kind: (typeof MEDIA_KINDS)[number]
  declare readonly mimeType: string
  declare readonly filename: string
  /** Who vouches for the bytes. It has no default: only the maker knows. */
  declare readonly trustTier: TrustTier
  /** What decoding the bytes can do to a model. It has no default: only the maker knows. */
  declare readonly modalityHazard: (typeof MODALITY_HAZARDS)[number]

  #reader: MediaReader
  #home: object | undefined

  constructor(raw: RawMedia) {
    const { reader, ...rest } = parseOrThrow('Media', CODE, rawMediaSchema, raw)
    Object.assign(this, rest)
    this.#reader = reader
    Object.freeze(this)
  }

  static isMedia(value: unknown): value is Media {
    return isInstanceOf(value, 'Media')
  }

  /** True for the stored form of a media. */
  static isStored(json: unknown): boolean {
    return v.is(storedMediaSchema, json)
  }

  /** Restores a media whose bytes lie in `spool`; they are opened on first use. */
  static fromJSON(json: unknown, context: { readonly spool: Pick<SpoolStore, 'read'> }): Media {
    const spool = (context as typeof context | null | undefined)?.spool
    if (typeof spool?.read !== 'function') {
      const rule = 'must be the spool store that holds the bytes: `{ spool: memorySpool() }`'
      throw wrongInput('Media.fromJSON', 'spool', rule)
    }
    const schema = v.pipe(v.unknown(), storedMediaSchema)
    const { sha256, byteLength, ...rest } = parseOrThrow('Media', CODE, schema, json).$media
    const open = async () => (await spool.read(sha256)).stream()
    return new Media({ ...rest, reader: streamMedia(open, { digest: sha256, byteLength }) })
  }

  /**
   * The bytes from the first on; each call opens the source anew. Bytes that are not those of the digest end with
   * `E_SPOOL_CORRUPT`: use none of them before the end.
   */
  stream(): AsyncIterable<Uint8Array> {
    const bytes = unwaited(this.#reader.stream())
    return this.digest === undefined ? bytes : checkedBytes(bytes, this.digest)
  }

  get byteLength(): number | undefined {
    return this.#reader.byteLength
  }

  /** SHA-256 of the bytes, once it is known. */
  get digest(): string | undefined {
    return this.#reader.digest
  }

  /**
   * Stores the bytes in `spool`, once; from then on they are read from there, and size and digest are
   * known. Bytes that are not what the reader said of them are refused.
   */
  async spooled(
    spool: Pick<SpoolStore, 'write'>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<this> {
    if (this.#home !== spool) {
      const stored = spoolMedia(await spool.write(unwaited(this.#reader.stream()), options))
      this.#requireSame(stored, 'byteLength')
      this.#requireSame(stored, 'digest')
      this.#reader = stored
      this.#home = spool
    }
    return this
  }

  /** A record that holds this media says what was known of it, and that must stay true. */
  #requireSame(stored: MediaReader, fact: 'byteLength' | 'digest'): void {
    const said = this[fact]
    if (said === undefined || said === stored[fact]) return
    const path = `reader.${fact}`
    const rule = `must be that of the bytes: it is ${said}, and theirs is ${stored[fact]}; leave it out where it is not known`
    throw new BobbinError(CODE, `\`Media.${path}\` ${rule}.`, { path, rule })
  }

  toJSON(): JsonObject {
    const { digest, byteLength } = this
    if (digest === undefined || byteLength === undefined) {
      const message = `\`Media\` ${this.filename} cannot be stored by reference while its digest is unknown: write its bytes first with \`await media.spooled(store)\`.`
      throw new BobbinError('E_UNRESOLVED_REFERENCE', message, { reference: this.filename })
    }
    const { kind, mimeType, filename, trustTier, modalityHazard } = this
    return {
      $media: { kind, mimeType, filename, trustTier, modalityHazard, sha256: digest, byteLength },
    }
  }

  [brandOf('Media')](): boolean {
    return #reader in this
  }
}

const CODE = 'E_INVALID_INITIAL_MEDIA_VALUE'
