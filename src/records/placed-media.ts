import * as v from 'valibot'
import { Media } from '../spool/media.ts'

/** Media beside the text of a result, and their place among the parts of that result, from 0. */
export interface PlacedMedia {
  readonly place: number
  readonly media: Media
}

const RULE = 'must be a non-empty array of `{ place, media }`, in the order of the places'

/** The media of a result that also has text. */
export const placedMediaField = v.pipe(
  v.custom<readonly PlacedMedia[]>(isPlacedList, RULE),
  v.transform((list): readonly PlacedMedia[] => Object.freeze(list.map(placed))),
)

function isPlacedList(input: unknown): boolean {
  if (!Array.isArray(input) || input.length === 0) return false
  const list = input as readonly (Partial<PlacedMedia> | null)[]
  return list.every((one, at) => {
    const before = at === 0 ? -1 : (list[at - 1]?.place ?? -1)
    return (
      Number.isSafeInteger(one?.place) && Number(one?.place) > before && Media.isMedia(one?.media)
    )
  })
}

/** Its JSON has the media by reference, as the results of a record have. */
function placed({ place, media }: PlacedMedia): PlacedMedia {
  const toJSON = () => ({ place, media: media.toJSON() })
  return Object.freeze(Object.defineProperty({ place, media }, 'toJSON', { value: toJSON }))
}
