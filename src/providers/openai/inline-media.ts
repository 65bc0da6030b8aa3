import { isUrlSafeBase64, standardBase64 } from '../../core/base64.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { asList, asObject, asText } from '../../model/wire/wire-value.ts'
import { dataUrlHead } from './media-url.ts'

/** What `validate` says of media in URL-safe base64. */
export const URL_SAFE = 'is URL-safe base64: write it in the standard alphabet'

const HOLDERS = ['content', 'output']
// Where the parts of both protocols have media inside.
const PLACES = [['image_url'], ['image_url', 'url'], ['file_data'], ['file', 'file_data']]
const SOUND = ['input_audio', 'data']

/** The places in an item or a message where media are in URL-safe base64. */
export function urlSafeMedia(item: JsonObject): readonly string[] {
  return HOLDERS.flatMap((holder) => {
    const held = item[holder]
    if (!Array.isArray(held)) return placesIn(held).map((place) => `${holder}.${place.join('.')}`)
    return asList(held).flatMap((part, index) =>
      placesIn(part).map((place) => `${holder}[${index}].${place.join('.')}`),
    )
  })
}

/** The item with its media in standard base64: the provider refuses the other alphabet. */
export function withStandardMedia(item: JsonObject): JsonObject {
  if (urlSafeMedia(item).length === 0) return item
  const mended = HOLDERS.flatMap((holder): [string, JsonValue][] => {
    const held = item[holder]
    if (held === undefined) return []
    return [[holder, Array.isArray(held) ? asList(held).map(mend) : mend(held)]]
  })
  return { ...item, ...Object.fromEntries(mended) }
}

function mend(value: JsonValue): JsonValue {
  return placesIn(value).reduce((part, place) => rewritten(part, place), value)
}

function rewritten(value: JsonValue | undefined, [member, ...rest]: readonly string[]): JsonValue {
  if (member !== undefined) {
    const holder = asObject(value) ?? {}
    return { ...holder, [member]: rewritten(holder[member], rest) }
  }
  const text = asText(value) ?? ''
  const head = dataUrlHead(text) ?? ''
  return head + standardBase64(text.slice(head.length))
}

function placesIn(value: unknown): readonly (readonly string[])[] {
  const inline = PLACES.filter((place) => {
    const url = asText(memberAt(value, place)) ?? ''
    const head = dataUrlHead(url)
    return head !== undefined && isUrlSafeBase64(url.slice(head.length))
  })
  return isUrlSafeBase64(asText(memberAt(value, SOUND)) ?? '') ? [...inline, SOUND] : inline
}

function memberAt(value: unknown, place: readonly string[]): unknown {
  return place.reduce((holder, member) => asObject(holder)?.[member], value)
}
