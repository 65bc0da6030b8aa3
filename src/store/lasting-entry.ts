import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { hasJsonForm } from '../core/json-form.ts'
import type { Message } from '../records/message.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { EntryKind, NewEntry } from './entry.ts'

/** How many characters are certain to be far from the most that an entry may have. */
const SHORT = 64 * 1024

/**
 * An entry whose data never changes again and has a JSON form of moderate size. A store that dies with
 * its process writes such an entry out only when somebody reads it.
 */
export class LastingEntry {
  readonly kind: EntryKind
  readonly turnId: string
  readonly data: object

  private constructor(kind: EntryKind, turnId: string, data: object) {
    this.kind = kind
    this.turnId = turnId
    this.data = data
  }

  /** For data that the caller froze; what it holds of arguments is normalised. */
  static of<K extends 'history-item' | 'intent' | 'turn-start' | 'turn-end'>(
    kind: K,
    turnId: string,
    data: (NewEntry & { kind: K })['data'],
  ): NewEntry {
    return LastingEntry.around(kind, turnId, data)
  }

  /** For data whose JSON form is that of its kind, which is all that anybody reads of it. */
  static around(kind: EntryKind, turnId: string, data: object): NewEntry {
    return new LastingEntry(kind, turnId, data) as unknown as NewEntry
  }

  /** A message, unless it might be a long one or refers to something. */
  static message(turnId: string, message: Message): NewEntry {
    const { content, attachments, providerData } = message
    const isShort = content !== undefined && content.text.length <= SHORT
    if (isShort && attachments.length === 0 && providerData === undefined) {
      return LastingEntry.around('message', turnId, message)
    }
    return { kind: 'message', turnId, data: message.toJSON() }
  }

  /** The settlement of a call: its record, which is its own JSON form unless it might be a long one. */
  static settlement(turnId: string, call: ToolCall): NewEntry {
    const { results, rawArgs, effectiveArgs, providerData } = call
    const isShort =
      rawArgs === undefined && effectiveArgs === undefined && providerData === undefined
    if (isShort && (results as SpooledArtifact).toJSON === SpooledArtifact.prototype.toJSON) {
      return LastingEntry.around('settlement', turnId, call)
    }
    return { kind: 'settlement', turnId, data: call.toJSON() }
  }

  /** The digest that the entry refers to: a settlement holds its artifact, the others hold none. */
  get reference(): string | undefined {
    if (this.kind !== 'settlement') return undefined
    return (this.data as { readonly results: SpooledArtifact }).results.digest
  }

  /** The entry as plain JSON. */
  toJSON(): NewEntry {
    const { kind, turnId, data } = this
    const json: unknown = hasJsonForm(data) ? data.toJSON() : data
    return { kind, turnId, data: json } as NewEntry
  }
}

/** An entry as plain JSON, whoever made it. */
export function plainEntry(entry: NewEntry): NewEntry {
  return entry instanceof LastingEntry ? entry.toJSON() : entry
}
