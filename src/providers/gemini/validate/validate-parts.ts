import type { WireRule } from '../../../model/wire/wire-adapter.ts'
import { asObject, asText, asWord } from '../../../model/wire/wire-value.ts'
import { isOldModel, isOnVertex } from '../wire/model-version.ts'
import { kindOf } from '../wire/wire.ts'
import type { RequestView } from './request-view.ts'

const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/
/** The form of the ids that are minted here for calls without one. */
const MINTED = /^bob_[\w-]{22}$/
const MODEL_ONLY = [
  'functionCall',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]

/** What each part must look like, and in whose turn it stands. */
export const PART_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'part-side',
    prevents: "Please use a valid role: user, model. (a call in the user's turn, or the reverse)",
    *check({ turns }) {
      for (const { role, parts } of turns) {
        for (const { part, path } of parts) {
          const kind = kindOf(part) ?? ''
          const isMisplaced =
            role === 'model' ? kind === 'functionResponse' : MODEL_ONLY.includes(kind)
          if (isMisplaced) yield { path, message: `\`${kind}\` in a turn of role \`${role}\`` }
        }
      }
    },
  },
  {
    rule: 'unknown-role',
    prevents: 'Please use a valid role: user, model.',
    *check({ turns }) {
      for (const { role, path } of turns) {
        // `function` is the older word for a turn of responses.
        if (['user', 'model', 'function'].includes(role)) continue
        yield { path: `${path}.role`, message: `\`${role}\` is not a role` }
      }
    },
  },
  {
    rule: 'invented-id',
    prevents: 'Unknown name "id" at \'contents[…].parts[…].function_call\' (Vertex AI)',
    *check({ turns }) {
      for (const { calls, responses } of turns) {
        for (const { held, heldPath } of [...calls, ...responses]) {
          const { id } = held
          if (id === undefined || (asWord(id) !== undefined && !MINTED.test(id as string))) continue
          yield { path: `${heldPath}.id`, message: 'was not issued by the provider: leave it out' }
        }
      }
    },
  },
  {
    rule: 'id-for-old-model',
    prevents:
      'Unknown name "id" at \'contents[…].parts[…].function_call\': Cannot find field. (Vertex AI)',
    *check({ turns, model }) {
      // The Developer API takes them on every model.
      if (!isOnVertex(model) || !isOldModel(model)) return
      for (const { calls, responses } of turns) {
        for (const { held, heldPath } of [...calls, ...responses]) {
          if (asWord(held['id']) === undefined) continue
          yield { path: `${heldPath}.id`, message: `\`${model}\` takes no ids` }
        }
      }
    },
  },
  {
    rule: 'response-name',
    prevents: 'function_response.name: Name cannot be empty.',
    *check({ turns }) {
      for (const { held, heldPath } of turns.flatMap(({ responses }) => responses)) {
        if (asWord(held['name']) !== undefined) continue
        yield { path: `${heldPath}.name`, message: 'is required, with an id too' }
      }
    },
  },
  {
    rule: 'function-name',
    prevents: 'Invalid function name. Must start with a letter or an underscore.',
    *check({ turns }) {
      for (const { held, heldPath } of turns.flatMap(({ calls }) => calls)) {
        const name = asText(held['name']) ?? ''
        if (NAME.test(name)) continue
        yield {
          path: `${heldPath}.name`,
          message: `\`${name}\` is not a valid function name`,
        }
      }
    },
  },
  {
    rule: 'struct',
    prevents: "Invalid value at 'contents[…].parts[…].function_call.args' (Struct)",
    *check({ turns }) {
      for (const { calls, responses } of turns) {
        for (const { held, heldPath } of calls) {
          if (held['args'] === undefined || asObject(held['args'])) continue
          yield { path: `${heldPath}.args`, message: 'must be an object' }
        }
        for (const { held, heldPath } of responses) {
          if (asObject(held['response'])) continue
          yield { path: `${heldPath}.response`, message: 'must be an object' }
        }
      }
    },
  },
  {
    rule: 'piece-of-call',
    prevents: 'partialArgs parameter is only supported in … (the client refuses it)',
    *check({ turns }) {
      for (const { held, path } of turns.flatMap(({ calls }) => calls)) {
        if (held['partialArgs'] === undefined && held['willContinue'] === undefined) continue
        yield { path, message: 'is a piece of a streamed call: send the whole call' }
      }
    },
  },
  {
    rule: 'stray-tool-response',
    prevents: 'a 400 for the response of a server tool without its call',
    *check({ turns }) {
      const ids = new Set<string>()
      for (const { parts } of turns) {
        let hasCall = false
        for (const { part, path } of parts) {
          const call = asObject(part.toolCall)
          const response = asObject(part.toolResponse)
          const id = asWord((call ?? response)?.['id'])
          hasCall ||= call !== undefined
          if (call !== undefined && id !== undefined) ids.add(id)
          if (response === undefined || (id === undefined ? hasCall : ids.has(id))) continue
          yield { path, message: `there is no \`toolCall\` ${id ?? ''} before it` }
        }
      }
    },
  },
  {
    rule: 'stray-code-result',
    prevents: 'a 400 for the result of code that the turn does not hold',
    *check({ turns }) {
      for (const { parts } of turns) {
        let hasCode = false
        for (const { part, path } of parts) {
          hasCode ||= part.executableCode !== undefined
          if (part.codeExecutionResult === undefined || hasCode) continue
          yield { path, message: 'there is no `executableCode` before it in its turn' }
        }
      }
    },
  },
  {
    rule: 'empty-turn',
    prevents: 'Unable to submit request because it must include at least one parts field',
    *check({ turns }) {
      for (const { parts, path } of turns) {
        if (parts.length === 0) yield { path, message: 'has no parts' }
      }
    },
  },
  {
    rule: 'empty-text',
    prevents: 'Unable to submit request because it has an empty text parameter. (Vertex AI)',
    *check({ turns, model }) {
      if (!isOnVertex(model)) return
      for (const { part, path } of turns.flatMap(({ parts }) => parts)) {
        if (part.text !== '' || asWord(part.thoughtSignature)) continue
        yield { path: `${path}.text`, message: 'is empty' }
      }
    },
  },
]
