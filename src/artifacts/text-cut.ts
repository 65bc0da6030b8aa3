/** The first `limit` characters of a text, one less where the cut would split a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 1)
  const splits = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, Math.max(0, splits ? limit - 1 : limit))
}

/** A text for a listing: cut, with the cut marked. */
export function brief(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1)}…`
}
