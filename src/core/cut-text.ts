/** The first `limit` UTF-16 units of a text, one less where the cut would split a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  return text.slice(0, Math.max(0, splitsPair(text, limit) ? limit - 1 : limit))
}

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
