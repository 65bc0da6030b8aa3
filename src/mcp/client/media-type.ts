import type { Media } from '../../spool/media.ts'

interface Signature {
  readonly type: string
  readonly at: number
  readonly bytes: readonly number[]
}

const ascii = (text: string) => Array.from(text, (char) => char.charCodeAt(0))

/** How files of the types that models take begin. */
const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', at: 0, bytes: [0x89, ...ascii('PNG\r\n'), 0x1a, 0x0a] },
  { type: 'image/jpeg', at: 0, bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', at: 0, bytes: ascii('GIF8') },
  { type: 'image/webp', at: 8, bytes: ascii('WEBP') },
  { type: 'image/bmp', at: 0, bytes: ascii('BM') },
  { type: 'application/pdf', at: 0, bytes: ascii('%PDF-') },
  { type: 'audio/wav', at: 8, bytes: ascii('WAVE') },
  { type: 'audio/mpeg', at: 0, bytes: ascii('ID3') },
  { type: 'audio/mpeg', at: 0, bytes: [0xff, 0xfb] },
  { type: 'audio/mpeg', at: 0, bytes: [0xff, 0xf3] },
  { type: 'audio/ogg', at: 0, bytes: ascii('OggS') },
  { type: 'audio/flac', at: 0, bytes: ascii('fLaC') },
  { type: 'video/mp4', at: 4, bytes: ascii('ftyp') },
  { type: 'application/zip', at: 0, bytes: [0x50, 0x4b, 0x03, 0x04] },
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
  const type = Object.hasOwn(ALIASES, said) ? ALIASES[said] : said
  const found = SIGNATURES.filter(({ at, bytes: first }) =>
    first.every((byte, index) => bytes[at + index] === byte),
  )
  if (found.some((signature) => signature.type === type)) return true
  const isKnown = SIGNATURES.some((signature) => signature.type === type)
  // A type without a signature here must at least not be one of those with one, nor claim to be a picture.
  return !isKnown && found.length === 0 && !said.startsWith('image/')
}

/** What kind of media a type is. */
export function mediaKind(type: string): Media['kind'] {
  const [family = ''] = type.split('/')
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document'
}
