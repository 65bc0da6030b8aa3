/** The first `limit` UTF-16 units of a text, one less where the cut would split a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 1)
  const splitsPair = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, Math.max(0, splitsPair ? limit - 1 : limit))
}

/** A text for a message or a listing: cut to `limit` units, the mark of the cut included. */
export function brief(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1)}…`
}
