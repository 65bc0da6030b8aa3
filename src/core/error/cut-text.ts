/** The first `limit` UTF-16 units of a text, one less where the cut would split a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  return text.slice(0, Math.max(0, splitsPair(text, limit) ? limit - 1 : limit))
}

/** The longest beginning of a text that splits no character and takes at most `limit` bytes as UTF-8. */
export function cutBytes(text: string, limit: number): string {
  if (text.length * MAX_UNIT_BYTES <= limit) return text
  const room = new Uint8Array(Math.max(0, limit))
  const { read } = new TextEncoder().encodeInto(text, room)
  return text.slice(0, read)
}

/** What one UTF-16 unit takes as UTF-8 at most; the two of a pair take four together. */
const MAX_UNIT_BYTES = 3

/** A text for a message or a listing: cut to `limit` units, the mark of the cut included. */
export function brief(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1)}…`
}

/** Whether a cut at `offset` would fall between the halves of a surrogate pair. */
export function splitsPair(text: string, offset: number): boolean {
  return (text.codePointAt(offset - 1) ?? 0) > 0xffff
}

/** The code point that ends just before `offset`; empty at the start. */
export function charBefore(text: string, offset: number): string {
  return text.slice(Math.max(0, splitsPair(text, offset - 1) ? offset - 2 : offset - 1), offset)
}
