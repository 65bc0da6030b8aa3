import * as v from 'valibot'
import { type RestoreContext, requireSpool } from '../artifacts/restore-artifact.ts'
import { isInstanceOf } from '../core/brand.ts'
import { dateField, idField } from '../core/fields.ts'
import { record } from '../core/record.ts'
import { recordFields, shortcutOf, withShortcut } from '../core/shortcut.ts'
import { providerDataField } from '../core/wire-reference.ts'
import { Media } from '../spool/media.ts'
import { Identity, identityField } from '../text/identity.ts'
import { Tokenizable } from '../text/tokenizable.ts'

/** Who speaks in a conversation. Instructions and tool results are no messages. */
const MESSAGE_ROLES = ['user', 'assistant'] as const
/** Who speaks in a message. */
export type MessageRole = (typeof MESSAGE_ROLES)[number]

const attachmentsField = withShortcut(
  v.pipe(
    v.array(Media.schema, 'must be an array of Media'),
    v.transform((media): readonly Media[] => Object.freeze(media)),
  ),
  (input) => (Array.isArray(input) && input.length === 0 ? NO_ATTACHMENTS : undefined),
)

const NO_ATTACHMENTS: readonly Media[] = Object.freeze([])

const fields = recordFields({
  id: idField,
  role: v.picklist(MESSAGE_ROLES, `must be one of ${MESSAGE_ROLES.join(', ')}`),
  content: v.optional(Tokenizable.schema),
  attachments: v.optional(attachmentsField, []),
  /** The role's name unless given. */
  identity: v.optional(identityField),
  /** Opaque state for the provider that wrote the message. */
  providerData: v.optional(providerDataField),
  /** Which model response it came from; items that share it are never sent apart. */
  response: v.optional(idField),
  createdAt: dateField,
  updatedAt: v.optional(dateField),
})

type Fields = v.InferOutput<typeof fields>

const hasContent = ({ content, attachments }: Fields) =>
  content !== undefined || attachments.length > 0

const carefulMessage = v.pipe(
  fields,
  v.check(hasContent, 'must have content or at least one attachment'),
  v.transform(completed),
)

const readFields = shortcutOf(fields)

const messageSchema = withShortcut(carefulMessage, (input, config) => {
  const value = readFields?.(input, config)
  return value && hasContent(value) ? completed(value) : undefined
})

/** An identity never changes, so messages of one role share theirs. */
const IDENTITIES = {
  user: new Identity({ identifier: 'user', representation: 'user' }),
  assistant: new Identity({ identifier: 'assistant', representation: 'assistant' }),
}

function completed(message: Fields) {
  const { identity = IDENTITIES[message.role], updatedAt = message.createdAt } = message
  return { ...message, identity, updatedAt }
}

/** What a person or the model said. */
export class Message extends record('Message', 'E_INVALID_INITIAL_MESSAGE_VALUE', messageSchema) {
  static isMessage(value: unknown): value is Message {
    return isInstanceOf(value, 'Message')
  }

  /** Restores a stored message; attachments are found again in `context.spool`. */
  static fromJSON(json: unknown, context: RestoreContext = {}): Message {
    return new Message(restoreAttachments(json, context) as RawMessage)
  }
}

/** Whatever else is wrong with stored JSON is for the constructor to say. */
function restoreAttachments(json: unknown, context: RestoreContext): unknown {
  if (typeof json !== 'object' || json === null || !('attachments' in json)) return json
  if (!Array.isArray(json.attachments)) return json
  const restore = (media: unknown) =>
    Media.fromJSON(media, { spool: requireSpool(context, 'attachment') })
  return { ...json, attachments: json.attachments.map(restore) }
}

/** What `new Message` takes. */
export type RawMessage = v.InferInput<typeof messageSchema>
