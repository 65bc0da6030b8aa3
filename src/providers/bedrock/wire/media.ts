import type { JsonObject } from '../../../core/json/json.ts'
import { type ProviderKey, providerData } from '../../../model/wire/provider-data.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type { MediaPart } from '../../../records/history-item.ts'
import { type Block, bytesText, extrasOf } from './wire.ts'

type Kind = MediaPart['kind']

/** Media types that are not made of the kind and the format. */
const TYPES: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  image: { gif: 'image/gif', jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' },
  audio: {
    aac: 'audio/aac',
    flac: 'audio/flac',
    m4a: 'audio/mp4',
    mka: 'audio/x-matroska',
    mp3: 'audio/mpeg',
    ogg: 'audio/ogg',
    opus: 'audio/opus',
    pcm: 'audio/pcm',
    wav: 'audio/wav',
    webm: 'audio/webm',
  },
  video: {
    flv: 'video/x-flv',
    mkv: 'video/x-matroska',
    mov: 'video/quicktime',
    mp4: 'video/mp4',
    mpeg: 'video/mpeg',
    three_gp: 'video/3gpp',
    webm: 'video/webm',
    wmv: 'video/x-ms-wmv',
  },
  document: {
    csv: 'text/csv',
    doc: 'application/msword',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    html: 'text/html',
    md: 'text/markdown',
    pdf: 'application/pdf',
    txt: 'text/plain',
    xls: 'application/vnd.ms-excel',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
}

export const isMedia = (tag: string): tag is Kind => Object.hasOwn(TYPES, tag)

/** A media block as a part. Members that have no place in it are kept as the provider's own. */
export function decodeMedia(
  kind: Kind,
  body: JsonObject,
  key: ProviderKey,
  mark: JsonObject | undefined,
): MediaPart {
  const format = asText(body['format'])
  const filename = asText(body['name'])
  const source = asObject(body['source'])
  const place = asObject(source?.['s3Location'])
  const uri = asText(place?.['uri'])
  const extras = extrasOf(body, 'format', 'name', 'source')
  const owner = asText(place?.['bucketOwner'])
  const data = {
    ...(format !== undefined && { format }),
    ...(extras !== undefined && { extras }),
    ...(owner !== undefined && { owner }),
    ...(mark !== undefined && { cachePoint: mark }),
  }
  return {
    type: 'media',
    kind,
    ...(format !== undefined && { mimeType: typeOf(kind, format) }),
    ...(filename !== undefined && { filename }),
    source:
      uri === undefined
        ? { type: 'base64', data: bytesText(source?.['bytes']) ?? '' }
        : { type: 'url', url: uri },
    ...(Object.keys(data).length > 0 && { providerData: providerData(key, data) }),
  }
}

function typeOf(kind: Kind, format: string): string {
  const known = TYPES[kind]
  return (Object.hasOwn(known, format) && known[format]) || `${kind}/${format}`
}

/** A media part as a block; undefined where this wire cannot take it. */
export function encodeMedia(
  part: MediaPart,
  own: JsonObject | undefined,
  nameOf: (filename: string | undefined) => string,
): Block | undefined {
  const { kind } = part
  const format = asText(own?.['format']) ?? formatOf(part)
  const source = sourceOf(part, asText(own?.['owner']))
  if (format === undefined || source === undefined) return undefined
  return {
    [kind]: {
      format,
      ...(kind === 'document' && { name: nameOf(part.filename) }),
      source,
      ...asObject(own?.['extras']),
    },
  }
}

function formatOf({ kind, mimeType }: MediaPart): string | undefined {
  const type = mimeType === 'image/jpg' ? 'image/jpeg' : mimeType?.split(';')[0]
  return Object.entries(TYPES[kind]).find(([, name]) => name === type)?.[0]
}

/** The wire reads bytes, or an object in S3; it fetches nothing else. */
function sourceOf({ source }: MediaPart, owner: string | undefined): JsonObject | undefined {
  if (source.type === 'base64') return isBase64(source.data) ? { bytes: source.data } : undefined
  if (source.type !== 'url' || !/^s3:\/\/[a-z0-9]/.test(source.url)) return undefined
  return { s3Location: { uri: source.url, ...(owner !== undefined && { bucketOwner: owner }) } }
}

/** The client is given bytes, so that anything else cannot be sent at all. */
const isBase64 = (text: string) =>
  text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)

// A message holds few documents, but their names must be different.
const NAME_MAX = 200
const EXTENSION = /\.[a-z0-9]{1,8}$/i

/** Gives the documents of one request names that the wire takes, each once. */
export function documentNames(): (filename: string | undefined) => string {
  const taken = new Set<string>()
  return (filename = 'document') => {
    const clean = filename
      .replace(EXTENSION, '')
      .replace(/[^a-zA-Z0-9\s()[\]-]/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, NAME_MAX)
    const name = clean === '' ? 'document' : clean
    let unique = name
    for (let count = 2; taken.has(unique); count++) unique = `${name} (${count})`
    taken.add(unique)
    return unique
  }
}
