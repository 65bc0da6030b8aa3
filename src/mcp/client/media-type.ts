import type { Media } from '../../spool/media.ts'

interface Signature {
  readonly type: string
  readonly at: number
  readonly bytes: readonly number[]
  /** Other types whose files begin this way, or may by chance. */
  readonly also?: RegExp
}

const ascii = (text: string) => Array.from(text, (char) => char.charCodeAt(0))

/** How files of the types that models take begin. */
const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', at: 0, bytes: [0x89, ...ascii('PNG\r\n'), 0x1a, 0x0a] },
  { type: 'image/jpeg', at: 0, bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', at: 0, bytes: ascii('GIF8') },
  { type: 'image/webp', at: 8, bytes: ascii('WEBP') },
  { type: 'image/bmp', at: 0, bytes: ascii('BM'), also: /./ },
  { type: 'application/pdf', at: 0, bytes: ascii('%PDF-') },
  { type: 'audio/wav', at: 8, bytes: ascii('WAVE') },
  { type: 'audio/mpeg', at: 0, bytes: ascii('ID3'), also: /^(audio|text)\// },
  { type: 'audio/mpeg', at: 0, bytes: [0xff, 0xfb] },
  { type: 'audio/mpeg', at: 0, bytes: [0xff, 0xf3] },
  { type: 'audio/ogg', at: 0, bytes: ascii('OggS'), also: /^(audio|video|application)\// },
  { type: 'audio/flac', at: 0, bytes: ascii('fLaC') },
  { type: 'video/mp4', at: 4, bytes: ascii('ftyp'), also: /^(audio|video)\// },
  { type: 'image/avif', at: 4, bytes: ascii('ftypavif') },
  { type: 'image/heic', at: 4, bytes: ascii('ftypheic') },
  { type: 'application/zip', at: 0, bytes: ascii('PK\x03\x04'), also: /^application\// },
]

/** Other names of the same types. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/mp4': 'video/mp4',
}

/** Whether bytes can be of the type that a server says they are. */
export function isOfType(bytes: Uint8Array, said: string): boolean {
  if (said === 'application/octet-stream') return true
  const type = Object.hasOwn(ALIASES, said) ? ALIASES[said] : said
  const found = SIGNATURES.filter(({ at, bytes: first }) =>
    first.every((byte, index) => bytes[at + index] === byte),
  )
  if (found.some((signature) => signature.type === type)) return true
  const isKnown = SIGNATURES.some((signature) => signature.type === type)
  // A type without a signature here must at least not begin as another, nor claim to be a picture.
  const mayBe = found.every(({ also }) => also?.test(said) === true)
  return !isKnown && mayBe && !said.startsWith('image/')
}

/** What kind of media a type is. */
export function mediaKind(type: string): Media['kind'] {
  const [family = ''] = type.split('/')
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document'
}
