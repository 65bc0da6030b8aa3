/** True for a body with `stream: true`, as most protocols ask for a stream. */
export const asksToStream = (_path: string, body: unknown): boolean =>
  (body as { stream?: unknown } | null | undefined)?.stream === true

/** The data of an event; a string stands for itself, so that it may be broken on purpose. */
export const dataOf = (event: unknown): string =>
  typeof event === 'string' ? event : JSON.stringify(event)

/** A server-sent event without a name. */
export const plainFrame = (event: unknown): string => `data: ${dataOf(event)}\n\n`

/** A server-sent event that is named after the `type` of its data. */
export function namedFrame(event: unknown): string {
  const data = dataOf(event)
  // Recorded data may be broken on purpose, so the name is searched, not parsed.
  const type = /"type"\s*:\s*"([\w.]+)"/.exec(data)?.[1]
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${data}\n\n`
}
