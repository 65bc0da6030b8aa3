import type { DateTime } from 'luxon'
import * as v from 'valibot'
import { type RestoreContext, requireSpool } from '../artifacts/restore-artifact.ts'
import { isInstanceOf } from '../core/error/brand.ts'
import { dateField, idField } from '../core/fields.ts'
import { record } from '../core/record.ts'
import { type ProviderData, providerDataField } from '../core/wire-reference.ts'
import { Media } from '../spool/media.ts'
import { Identity, identityField } from '../text/identity.ts'
import { Tokenizable } from '../text/tokenizable.ts'

/** Instructions and tool results are not messages. */
const MESSAGE_ROLES = ['user', 'assistant'] as const
/** Who speaks in a message. */
export type MessageRole = (typeof MESSAGE_ROLES)[number]

const attachmentsField = v.pipe(
  v.array(Media.schema, 'must be an array of Media'),
  v.transform((media): readonly Media[] => Object.freeze(media)),
)

const fields = v.strictObject({
  id: idField,
  role: v.picklist(MESSAGE_ROLES, `must be one of ${MESSAGE_ROLES.join(', ')}`),
  content: v.optional(Tokenizable.schema),
  attachments: v.optional(attachmentsField, []),
  identity: v.optional(identityField),
  providerData: v.optional(providerDataField),
  response: v.optional(idField),
  partial: v.optional(v.literal(true, 'must be true, or be left out')),
  createdAt: dateField,
  updatedAt: v.optional(dateField),
})

type Fields = v.InferOutput<typeof fields>

const hasContent = ({ content, attachments }: Fields) =>
  content !== undefined || attachments.length > 0

const messageSchema = v.pipe(
  fields,
  v.check(hasContent, 'must have content or at least one attachment'),
  v.transform(completed),
)

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
export class Message
  extends record('Message', 'E_INVALID_INITIAL_MESSAGE_VALUE', messageSchema)
  implements Readonly<v.InferOutput<typeof messageSchema>>
{
  declare readonly id: string
  declare readonly role: MessageRole
  /** The text; a message without text has attachments. */
  declare readonly content?: Tokenizable | undefined
  declare readonly attachments: readonly Media[]
  /** Who speaks; named after the role by default. */
  declare readonly identity: Identity
  /** Opaque state for the provider that wrote the message. */
  declare readonly providerData?: ProviderData | undefined
  /** The model response that it came from; items of one response are sent together. */
  declare readonly response?: string | undefined
  /** Set on text of a model that was cut off: its turn was stopped, or failed. */
  declare readonly partial?: true | undefined
  declare readonly createdAt: DateTime<true>
  declare readonly updatedAt: DateTime<true>

  static isMessage(value: unknown): value is Message {
    return isInstanceOf(value, 'Message')
  }

  /** Restores a stored message; attachments are found again in `context.spool`. */
  static fromJSON(json: unknown, context: RestoreContext = {}): Message {
    return new Message(restoreAttachments(json, context) as RawMessage)
  }
}

/** The constructor reports everything else that is wrong with stored JSON. */
function restoreAttachments(json: unknown, context: RestoreContext): unknown {
  if (typeof json !== 'object' || json === null || !('attachments' in json)) return json
  if (!Array.isArray(json.attachments)) return json
  const restore = (media: unknown) =>
    Media.fromJSON(media, { spool: requireSpool(context, 'attachment') })
  return { ...json, attachments: json.attachments.map(restore) }
}

/** What `new Message` takes. */
export type RawMessage = v.InferInput<typeof messageSchema>
