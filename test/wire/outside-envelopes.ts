/** Every text in a payload. */
export function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** A text without its envelopes. Each ends at the first closing tag with its own nonce. */
export function outsideEnvelopes(text: string): string {
  return text.replaceAll(ENVELOPE, '')
}

const ENVELOPE = /<bobbin-data [^<>\n]* nonce="([\w-]{22})">\n[^]*?\n<\/bobbin-data nonce="\1">/g
