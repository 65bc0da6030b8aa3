import { BobbinError } from '../core/error/error.ts'

/** A place in the feed of a conversation: the entry, and the count of streamed events after it. */
export interface Place {
  readonly seq: number
  readonly n: number
}

export const positionAt = ({ seq, n }: Place): string => `${seq}.${n}`

const POSITION = /^(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})$/

/** Reads a position; `E_INVALID_POSITION` if it is not one. */
export function placeOf(position: unknown): Place {
  const [, seq, n] = (typeof position === 'string' ? POSITION.exec(position) : null) ?? []
  const place = { seq: Number(seq), n: Number(n) }
  if (Number.isSafeInteger(place.seq) && Number.isSafeInteger(place.n)) return place
  throw invalidPosition(position, 'is not a position: pass the `position` of a feed event')
}

/** Below 0 if `a` comes first, 0 if they are the same, above 0 otherwise. */
export const comparePlaces = (a: Place, b: Place): number => a.seq - b.seq || a.n - b.n

/** Orders the positions of feed events of one conversation; fits `Array.sort`. */
export const comparePositions = (a: string, b: string): number =>
  comparePlaces(placeOf(a), placeOf(b))

export function invalidPosition(position: unknown, rule: string): BobbinError {
  const text = typeof position === 'string' ? position.slice(0, 40) : typeof position
  const data = { position: text, rule }
  return new BobbinError('E_INVALID_POSITION', `\`${text}\` ${rule}.`, data)
}
