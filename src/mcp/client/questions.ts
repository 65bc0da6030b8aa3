import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { inputRequired, linkRequired, type PersonRequest } from '../../tools/person-request.ts'
import type { GivenInput } from '../../tools/tool-context.ts'
import { isJsonObject, safeSchema, textIn } from './safe-schema.ts'
import { shownBriefly } from './stranger-text.ts'

/** What a server wants to know before it continues a call, and what it wants back unchanged. */
export interface Questions {
  /** By the keys of the server; each asks a person for a form or a visit. */
  readonly requests: Readonly<Record<string, JsonObject>>
  readonly answers: Readonly<Record<string, JsonObject>>
  /** The server's own state, sent back as it came. */
  readonly requestState?: string
  /** The call waits in this process under this name: protocols before 2026-07-28 keep it open. */
  readonly parked?: string
  /** How often a person was asked to sign in for this call. */
  readonly signIns?: number
}

const MAX_MESSAGE = 4_000
const MAX_STATE = 256 * 1024
const MAX_QUESTIONS = 16

/** Reads an `input_required` result. Throws a plain error if it asks for what is not offered here. */
export function readQuestions(result: JsonObject): Questions {
  const { inputRequests, requestState } = result
  if (typeof requestState === 'string' && requestState.length > MAX_STATE) {
    throw new Error(`The server wants more than ${MAX_STATE} characters kept for it.`)
  }
  const requests = isJsonObject(inputRequests) ? Object.entries(inputRequests) : []
  if (requests.length > MAX_QUESTIONS) {
    throw new Error(`The server asks more than ${MAX_QUESTIONS} questions at once.`)
  }
  return {
    requests: Object.fromEntries(requests.map(([key, each]) => [key, elicitationOf(each)])),
    answers: {},
    ...(typeof requestState === 'string' && { requestState }),
  }
}

function elicitationOf(request: JsonValue): JsonObject {
  const { method, params } = isJsonObject(request) ? request : {}
  if (method === 'elicitation/create' && isJsonObject(params)) return params
  const what = shownBriefly(textIn(method), 100)
  throw new Error(`The server asks for \`${what}\`, which is not offered here.`)
}

/** The questions that an earlier run of the handler left, with the answer that has come since. */
export function questionsOf({ state, value, done, declined }: GivenInput): Questions | undefined {
  if (!isJsonObject(state) || !isJsonObject(state['requests'])) return undefined
  const questions = state as unknown as Questions
  const key = openKey(questions)
  if (key === undefined) return questions
  const accepted: JsonObject =
    done === true ? { action: 'accept' } : { action: 'accept', content: value ?? {} }
  const answer: JsonObject = declined === true ? { action: 'decline' } : accepted
  return { ...questions, answers: { ...questions.answers, [key]: answer } }
}

const openKey = ({ requests, answers }: Questions): string | undefined =>
  Object.keys(requests).find((key) => !Object.hasOwn(answers, key))

/** Asks a person the first question that is not answered yet; undefined when all are. */
export function nextQuestion(server: string, questions: Questions): PersonRequest | undefined {
  const key = openKey(questions)
  const request = key === undefined ? undefined : questions.requests[key]
  if (request === undefined) return undefined
  const text = shownBriefly(textIn(request['message']), MAX_MESSAGE)
  const message = `${server} asks: ${text}`
  const state = questions
  // A call that stays open learns of it when the person declines.
  const runOnDecline = questions.parked !== undefined
  if (request['mode'] === 'url') {
    return linkRequired({ message, url: textIn(request['url']), state, runOnDecline })
  }
  const { shown, checked = {} } = safeSchema(request['requestedSchema'])
  if (shown['type'] !== 'object') throw new Error('The server asks for a form without fields.')
  return inputRequired({ message, schema: { ...checked, type: 'object' }, state, runOnDecline })
}
