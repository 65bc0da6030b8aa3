import { brandOf, isInstanceOf } from '../core/error/brand.ts'
import { requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { JsonObject, JsonValue } from '../core/json/json.ts'
import { normalizeJson } from '../core/json/strict-json.ts'
import { pageUrl } from '../core/page-url.ts'
import type { InputSchema } from './input-schema.ts'
import { compileSchema } from './schema-validation.ts'

interface RequestParts {
  readonly kind: 'input' | 'link'
  readonly message: string
  readonly schema?: JsonObject
  readonly url?: string
  readonly state?: JsonValue
  readonly runOnDecline?: true
}

/** What a handler asks a person for: `inputRequired` and `linkRequired` make it. */
export class PersonRequest {
  /** What to show and what to keep. */
  readonly parts: RequestParts
  readonly #branded = true

  constructor(parts: RequestParts) {
    this.parts = Object.freeze(parts)
    Object.freeze(this)
  }

  /** Answers the guard; see `core/brand.ts`. */
  [brandOf('PersonRequest')](): boolean {
    return #branded in this
  }

  static isPersonRequest(value: unknown): value is PersonRequest {
    return isInstanceOf<PersonRequest>(value, 'PersonRequest')
  }
}

/** What every question has. */
interface Question {
  /** What the person reads. */
  readonly message: string
  /** JSON that the handler gets back as `ctx.input.state`. */
  readonly state?: unknown
  /**
   * True runs the handler again if the person declines, with `ctx.input.declined`: it has something to end. Without it the
   * call settles as `denied`.
   */
  readonly runOnDecline?: boolean
}

/** A question with a form as its answer. */
export interface InputQuestion extends Question {
  /** What the answer must be: an object, as for the input of a tool. */
  readonly schema: InputSchema
}

/** A page that a person must visit. */
export interface LinkQuestion extends Question {
  /** `https`, or `http` to this machine. */
  readonly url: string
}

const SCHEMA = { name: 'schema', path: 'schema', code: 'E_INVALID_OUTPUT' } as const

/**
 * Returned by a handler that needs an answer of a person before it can continue. The call waits; after the answer the handler
 * runs again under the same `idempotencyKey`, with `ctx.input`.
 */
export function inputRequired(question: InputQuestion): PersonRequest {
  requireOptions('inputRequired', question, ['message', 'schema', 'state', 'runOnDecline'])
  const { jsonSchema: schema } = compileSchema(question.schema, SCHEMA)
  return new PersonRequest({ kind: 'input', ...shown('inputRequired', question), schema })
}

/** The same for a page that a person must open, to sign in or to consent. We never open it, and no model reads it. */
export function linkRequired(question: LinkQuestion): PersonRequest {
  requireOptions('linkRequired', question, ['message', 'url', 'state', 'runOnDecline'])
  const url = pageUrl(question.url)
  // The model reads this text, and the URL may be an attacker's.
  if (url === undefined) {
    throw wrongInput('linkRequired', 'url', 'must be an `https` URL, or `http` to this machine')
  }
  return new PersonRequest({ kind: 'link', ...shown('linkRequired', question), url })
}

function shown(of: string, { message, state, runOnDecline = false }: Question) {
  if (typeof message !== 'string' || message === '') {
    throw wrongInput(of, 'message', 'must be a text for the person')
  }
  if (typeof runOnDecline !== 'boolean') throw wrongInput(of, 'runOnDecline', 'must be a boolean')
  const kept = state === undefined ? undefined : normalizeJson(state, STATE)
  return {
    message,
    ...(kept !== undefined && { state: kept }),
    ...(runOnDecline && { runOnDecline }),
  }
}

const STATE = { root: 'state', code: 'E_INVALID_OUTPUT' } as const
