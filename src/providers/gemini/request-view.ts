import type { JsonObject, JsonValue } from '../../core/json.ts'
import { asList, asObject, asText } from '../../model/wire-value.ts'
import type { WirePart } from './wire.ts'

/** A function call or its response, with its place. */
export interface Placed {
  readonly held: JsonObject
  readonly part: WirePart
  readonly path: string
}

/** One content of a request, sorted. */
export interface Turn {
  readonly path: string
  readonly role: string
  readonly parts: readonly { readonly part: WirePart; readonly path: string }[]
  readonly calls: readonly Placed[]
  readonly responses: readonly Placed[]
}

/** A request, or the part of one. */
export interface RequestView {
  readonly turns: readonly Turn[]
  /** The model that it goes to, where the payload tells: over HTTP only the address does. */
  readonly model: string | undefined
}

/** Sorts a request, its `contents`, one content, or one part. */
export function viewOf(payload: unknown): RequestView {
  const object = asObject(payload)
  const contents = object?.['contents'] ?? (payload as JsonValue)
  const list = Array.isArray(contents) ? asList(contents) : [contents]
  const isEmpty = contents === undefined || contents === null
  return {
    model: asText(object?.['model']),
    turns: isEmpty ? [] : list.map((content, index) => turnOf(content, `contents[${index}]`)),
  }
}

function turnOf(value: JsonValue, path: string): Turn {
  const content = asObject(value)
  // The client also takes texts and bare parts where contents are due, as a person's words.
  const isContent = content?.['parts'] !== undefined || content?.['role'] !== undefined
  const list = isContent ? asList(content?.['parts']) : [value]
  const parts = list.map((part, index) => ({
    part: typeof part === 'string' ? { text: part } : ((asObject(part) ?? {}) as WirePart),
    path: `${path}.parts[${index}]`,
  }))
  const placed = (kind: 'functionCall' | 'functionResponse') =>
    parts.flatMap(({ part, path: at }) => {
      const held = asObject(part[kind])
      return held === undefined ? [] : [{ held, part, path: at }]
    })
  return {
    path,
    role: asText(content?.['role']) ?? 'user',
    parts,
    calls: placed('functionCall'),
    responses: placed('functionResponse'),
  }
}
