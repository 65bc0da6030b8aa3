import type { WireRule } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText, asWord } from '../../../../model/wire/wire-value.ts'
import type { RequestView } from './request-view.ts'

const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/

/** What each step must look like. */
export const STEP_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'legacy-turn',
    prevents: 'The legacy Interactions API schema is no longer supported.',
    *check({ steps }) {
      for (const { step, type, path } of steps) {
        if (type !== '' || step['role'] === undefined) continue
        yield { path, message: 'is a turn with a role: send a step with a `type`' }
      }
    },
  },
  {
    rule: 'missing-id',
    prevents: "Invalid input at 'input[…].id': a call without id, or a result without `call_id`",
    *check({ steps }) {
      for (const { step, type, path } of steps) {
        if (type === 'function_call' && asWord(step.id) === undefined) {
          yield { path: `${path}.id`, message: 'is required' }
        }
        if (type === 'function_result' && asWord(step.call_id) === undefined) {
          yield { path: `${path}.call_id`, message: 'is required' }
        }
      }
    },
  },
  {
    rule: 'function-name',
    prevents: 'Invalid function name. Must start with a letter or an underscore.',
    *check({ steps }) {
      for (const { step, type, path } of steps) {
        const name = asText(step.name) ?? ''
        if (type !== 'function_call' || NAME.test(name)) continue
        yield { path: `${path}.name`, message: `\`${name}\` is not a valid function name` }
      }
    },
  },
  {
    rule: 'struct',
    prevents: "Invalid input at 'input[…].arguments'",
    *check({ steps }) {
      for (const { step, type, path } of steps) {
        if (type !== 'function_call' || asObject(step.arguments)) continue
        yield { path: `${path}.arguments`, message: 'must be an object, not text' }
      }
    },
  },
  {
    rule: 'result-shape',
    prevents: "Invalid input at 'input[…].result'",
    *check({ steps }) {
      for (const { step, type, path } of steps) {
        const { result } = step
        const isTaken =
          typeof result === 'string' || (typeof result === 'object' && result !== null)
        if (type !== 'function_result' || isTaken) continue
        yield { path: `${path}.result`, message: 'must be a text, a list of content, or an object' }
      }
    },
  },
  {
    rule: 'unsigned-thought',
    prevents: 'Request contains an invalid argument. (a thought that came without signature)',
    *check({ steps }) {
      for (const { step, type, path } of steps) {
        if (type !== 'thought' || asWord(step.signature) !== undefined) continue
        yield { path, message: 'has no signature: leave the thought out' }
      }
    },
  },
  {
    rule: 'empty-text',
    prevents: 'Unable to submit request because it has an empty text parameter.',
    *check({ steps }) {
      for (const { step, path } of steps) {
        for (const [index, block] of asList(step.content).entries()) {
          if (asObject(block)?.['text'] !== '') continue
          yield { path: `${path}.content[${index}].text`, message: 'is empty' }
        }
      }
    },
  },
  {
    rule: 'background-not-stored',
    prevents: 'a 400 for `background: true` with `store: false`',
    *check({ request }) {
      if (request['background'] !== true || request['store'] !== false) return
      yield { path: 'store', message: 'must not be false for an interaction in the background' }
    },
  },
]
