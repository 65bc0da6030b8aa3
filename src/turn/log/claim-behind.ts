import type { IdLedger } from '../../core/ids.ts'

/**
 * Claims an id that is free also in the part of a log that was not read. Some providers number their calls from zero in each
 * response: the suffixes of such an id have no gaps, so few questions find a free one.
 */
export async function claimBehind(
  ids: IdLedger,
  given: string,
  isBehind: (id: string) => Promise<boolean>,
): Promise<string> {
  const id = given.toWellFormed()
  const nameOf = (suffix: number) => (suffix === 1 ? id : `${id}~${suffix}`)
  const isTaken = async (suffix: number) =>
    ids.has(nameOf(suffix)) || (await isBehind(nameOf(suffix)))
  // A call that a person edited has its record under the next suffix only.
  let free = 1
  if ((await isTaken(1)) || (await isTaken(2))) {
    let taken = 1
    for (free = 2; await isTaken(free); free *= 2) taken = free
    while (free - taken > 1) {
      const middle = Math.floor((taken + free) / 2)
      if (await isTaken(middle)) taken = middle
      else free = middle
    }
  }
  // Another call may have claimed it meanwhile.
  while (ids.has(nameOf(free))) free++
  ids.take(nameOf(free))
  return nameOf(free)
}
