import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import { partsOf, spelledPart, writtenName } from '../wire/spelling.ts'
import type { WirePart } from '../wire/wire.ts'

/** A function call or its response, with its place. */
export interface Placed {
  readonly held: JsonObject
  readonly part: WirePart
  /** Where the part is. */
  readonly path: string
  /** Where the call or the response is, as the payload spells it. */
  readonly heldPath: string
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
  /** True for a request that says that it holds nothing. */
  readonly isEmpty: boolean
  readonly turns: readonly Turn[]
  /** The same, with neighbouring turns of the model as one: the provider reads them so. */
  readonly joined: readonly Turn[]
  /** The model that it goes to, where the payload tells: over HTTP only the address does. */
  readonly model: string | undefined
}

/** Sorts a request, its `contents`, one content, or one part. */
export function viewOf(payload: unknown): RequestView {
  const object = asObject(payload)
  const contents = object?.['contents'] ?? (payload as JsonValue)
  const list = Array.isArray(contents) ? asList(contents) : [contents]
  const isNothing = contents === undefined || contents === null
  const turns = isNothing ? [] : list.map((content, index) => turnOf(content, `contents[${index}]`))
  return {
    isEmpty: Array.isArray(object?.['contents']) && list.length === 0,
    model: asText(object?.['model']),
    turns,
    joined: joinModelTurns(turns),
  }
}

function turnOf(value: JsonValue, path: string): Turn {
  const content = asObject(value)
  // The client also takes texts and bare parts where contents are due, as a person's words.
  const isContent = content?.['parts'] !== undefined || content?.['role'] !== undefined
  const list = content !== undefined && isContent ? partsOf(content) : [spelledPart(value)]
  const written = content !== undefined && isContent ? asList(content['parts']) : [value]
  const parts = list.map((part, index) => ({
    part: typeof part === 'string' ? { text: part } : ((asObject(part) ?? {}) as WirePart),
    path: `${path}.parts[${index}]`,
    written: asObject(written[index]) ?? {},
  }))
  const placed = (kind: 'functionCall' | 'functionResponse') =>
    parts.flatMap(({ part, path: at, written: raw }) => {
      const held = asObject(part[kind])
      if (held === undefined) return []
      return [{ held, part, path: at, heldPath: `${at}.${writtenName(raw, kind)}` }]
    })
  return {
    path,
    role: asText(content?.['role']) ?? 'user',
    parts,
    calls: placed('functionCall'),
    responses: placed('functionResponse'),
  }
}

function joinModelTurns(turns: readonly Turn[]): readonly Turn[] {
  const joined: Turn[] = []
  for (const turn of turns) {
    const last = joined.at(-1)
    if (last?.role !== 'model' || turn.role !== 'model') joined.push(turn)
    else {
      joined[joined.length - 1] = {
        // The place of the first call, where there is one.
        path: last.calls.length === 0 && turn.calls.length > 0 ? turn.path : last.path,
        role: 'model',
        parts: [...last.parts, ...turn.parts],
        calls: [...last.calls, ...turn.calls],
        responses: [...last.responses, ...turn.responses],
      }
    }
  }
  return joined
}
