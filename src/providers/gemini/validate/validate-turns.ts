import type { WireRule } from '../../../model/wire/wire-adapter.ts'
import { asText, asWord } from '../../../model/wire/wire-value.ts'
import { SKIP_SIGNATURE, wantsSignatures } from '../wire/model-version.ts'
import type { Placed, RequestView } from './request-view.ts'

const COUNT =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'

/** What pairs and orders turns. */
export const TURN_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'response-count',
    prevents: COUNT,
    *check({ turns }) {
      for (const [index, { calls, path }] of turns.entries()) {
        const answers = turns[index + 1]?.responses.length ?? 0
        if (calls.length === 0 || calls.length === answers) continue
        yield { path, message: `has ${calls.length} calls, and the next turn ${answers} responses` }
      }
    },
  },
  {
    rule: 'call-turn-place',
    prevents:
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    *check({ turns }) {
      for (const [index, { calls, path }] of turns.entries()) {
        const before = turns[index - 1]
        if (calls.length === 0 || (before !== undefined && before.role !== 'model')) continue
        yield { path, message: 'has calls and does not follow a turn of role `user`' }
      }
    },
  },
  {
    rule: 'response-turn-place',
    prevents:
      'Please ensure that function response turn comes immediately after a function call turn.',
    *check({ turns }) {
      for (const [index, { responses, path }] of turns.entries()) {
        if (responses.length === 0 || (turns[index - 1]?.calls.length ?? 0) > 0) continue
        yield { path, message: 'has responses and does not follow a turn with calls' }
      }
    },
  },
  {
    rule: 'response-turn-alone',
    prevents: COUNT,
    *check({ turns }) {
      for (const { responses, parts, path } of turns) {
        if (responses.length === 0 || responses.length === parts.length) continue
        yield { path, message: 'has responses and something else: give that a turn of its own' }
      }
    },
  },
  {
    rule: 'response-order',
    prevents: 'results that are taken for those of another call: without ids the position pairs',
    *check({ turns }) {
      for (const { call, response } of pairsOf(turns)) {
        const name = asText(call.held['name'])
        if (response.held['name'] === name || asWord(response.held['id'])) continue
        yield { path: response.path, message: `answers the call of \`${name}\` at its position` }
      }
    },
  },
  {
    rule: 'response-id',
    prevents: 'functionResponse.id does not match functionCall.id',
    *check({ turns }) {
      for (const [index, { responses }] of turns.entries()) {
        const ids = new Set(turns[index - 1]?.calls.map(({ held }) => asWord(held['id'])))
        for (const { held, path } of responses) {
          const id = asWord(held['id'])
          if (id === undefined || ids.has(id)) continue
          yield { path: `${path}.functionResponse.id`, message: `\`${id}\` is the id of no call` }
        }
      }
    },
  },
  {
    rule: 'id-not-echoed',
    prevents: 'functionResponse.id does not match functionCall.id (Gemini 3 wants it back)',
    *check({ turns }) {
      for (const [index, { calls }] of turns.entries()) {
        const responses = turns[index + 1]?.responses ?? []
        const ids = new Set(responses.map(({ held }) => asWord(held['id'])))
        if (responses.length === 0) continue
        for (const { held, path } of calls) {
          const id = asWord(held['id'])
          if (id === undefined || ids.has(id)) continue
          yield { path: `${path}.functionCall.id`, message: `no response has the id \`${id}\`` }
        }
      }
    },
  },
  {
    rule: 'duplicate-id',
    prevents: 'functionResponse.id does not match functionCall.id (two calls under one id)',
    *check({ turns }) {
      const seen = new Set<string>()
      for (const { held, path } of turns.flatMap(({ calls }) => calls)) {
        const id = asWord(held['id'])
        if (id === undefined) continue
        if (seen.has(id)) yield { path: `${path}.functionCall.id`, message: `\`${id}\` repeats` }
        seen.add(id)
      }
    },
  },
  {
    rule: 'missing-signature',
    prevents: 'Function call is missing a thought_signature in functionCall parts.',
    *check({ turns, model }) {
      if (!wantsSignatures(model)) return
      for (const [first] of turns.map(({ calls }) => calls)) {
        if (first === undefined || asWord(first.part.thoughtSignature)) continue
        yield { path: first.path, message: 'is the first call of its step and is not signed' }
      }
    },
  },
  {
    rule: 'stray-signature',
    prevents: 'Invalid thought signature. / Corrupted thought signature.',
    *check({ turns }) {
      for (const [, ...siblings] of turns.map(({ calls }) => calls)) {
        for (const { part, path } of siblings) {
          if (part.thoughtSignature !== SKIP_SIGNATURE) continue
          yield { path, message: 'is not the first call of its step and takes no signature' }
        }
      }
    },
  },
  {
    rule: 'model-turn-last',
    prevents: 'an empty answer, or a 400 for a request that ends with a model turn',
    *check({ turns }) {
      const last = turns.at(-1)
      if (last?.role !== 'model') return
      yield { path: last.path, message: 'is the model’s; the last turn must be of role `user`' }
    },
  },
]

function* pairsOf(
  turns: RequestView['turns'],
): Generator<{ readonly call: Placed; readonly response: Placed }> {
  for (const [index, { calls }] of turns.entries()) {
    const responses = turns[index + 1]?.responses ?? []
    for (const [at, call] of calls.entries()) {
      const response = responses[at]
      if (response !== undefined) yield { call, response }
    }
  }
}
