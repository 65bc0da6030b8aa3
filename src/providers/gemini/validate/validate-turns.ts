import type { WireRule } from '../../../model/wire/wire-adapter.ts'
import { asText, asWord } from '../../../model/wire/wire-value.ts'
import { wantsSignatures } from '../wire/model-version.ts'
import type { Placed, RequestView } from './request-view.ts'

const COUNT =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'

/** What pairs and orders turns. Neighbouring turns of the model count as one, as they do for the provider. */
export const TURN_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'response-count',
    prevents: COUNT,
    *check({ joined }) {
      for (const [index, { calls, path }] of joined.entries()) {
        const answers = joined[index + 1]?.responses.length ?? 0
        if (calls.length === 0 || calls.length === answers) continue
        yield { path, message: `has ${calls.length} calls, and the next turn ${answers} responses` }
      }
    },
  },
  {
    rule: 'call-turn-place',
    prevents:
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    *check({ joined }) {
      for (const [index, { calls, path }] of joined.entries()) {
        const before = joined[index - 1]
        if (calls.length === 0 || (before !== undefined && before.role !== 'model')) continue
        yield { path, message: 'has calls and does not follow a turn of role `user`' }
      }
    },
  },
  {
    rule: 'response-turn-place',
    prevents:
      'Please ensure that function response turn comes immediately after a function call turn.',
    *check({ joined }) {
      for (const [index, { responses, path }] of joined.entries()) {
        if (responses.length === 0 || (joined[index - 1]?.calls.length ?? 0) > 0) continue
        yield { path, message: 'has responses and does not follow a turn with calls' }
      }
    },
  },
  {
    rule: 'response-turn-alone',
    prevents: COUNT,
    *check({ joined }) {
      for (const { responses, parts, path } of joined) {
        if (responses.length === 0 || responses.length === parts.length) continue
        yield { path, message: 'has responses and something else: give that a turn of its own' }
      }
    },
  },
  {
    rule: 'response-order',
    prevents: 'results that are taken for those of another call: without ids the position pairs',
    *check({ joined }) {
      for (const { call, response } of pairsOf(joined)) {
        const name = asText(call.held['name'])
        if (response.held['name'] === name || asWord(response.held['id'])) continue
        yield { path: response.path, message: `answers the call of \`${name}\` at its position` }
      }
    },
  },
  {
    rule: 'response-id',
    prevents: 'functionResponse.id does not match functionCall.id',
    *check({ joined }) {
      for (const [index, { responses }] of joined.entries()) {
        const ids = new Set(joined[index - 1]?.calls.map(({ held }) => asWord(held['id'])))
        for (const { held, heldPath } of responses) {
          const id = asWord(held['id'])
          if (id === undefined || ids.has(id)) continue
          yield { path: `${heldPath}.id`, message: `\`${id}\` is the id of no call` }
        }
      }
    },
  },
  {
    rule: 'id-not-echoed',
    prevents: 'functionResponse.id does not match functionCall.id (Gemini 3 wants it back)',
    *check({ joined }) {
      for (const [index, { calls }] of joined.entries()) {
        const responses = joined[index + 1]?.responses ?? []
        const ids = new Set(responses.map(({ held }) => asWord(held['id'])))
        if (responses.length === 0) continue
        for (const { held, heldPath } of calls) {
          const id = asWord(held['id'])
          if (id === undefined || ids.has(id)) continue
          yield { path: `${heldPath}.id`, message: `no response has the id \`${id}\`` }
        }
      }
    },
  },
  {
    rule: 'duplicate-id',
    prevents: 'functionResponse.id does not match functionCall.id (two calls under one id)',
    *check({ joined }) {
      const seen = new Set<string>()
      for (const { held, heldPath } of joined.flatMap(({ calls }) => calls)) {
        const id = asWord(held['id'])
        if (id === undefined) continue
        if (seen.has(id)) yield { path: `${heldPath}.id`, message: `\`${id}\` repeats` }
        seen.add(id)
      }
    },
  },
  {
    rule: 'missing-signature',
    prevents: 'Function call is missing a thought_signature in functionCall parts.',
    *check({ joined, model }) {
      if (!wantsSignatures(model)) return
      for (const [first] of joined.map(({ calls }) => calls)) {
        if (first === undefined || asWord(first.part.thoughtSignature)) continue
        yield { path: first.path, message: 'is the first call of its step and is not signed' }
      }
    },
  },
  {
    rule: 'no-contents',
    prevents: 'GenerateContentRequest.contents: contents is not specified',
    *check({ isEmpty }) {
      if (isEmpty) yield { path: 'contents', message: 'is empty: send at least one turn' }
    },
  },
]

function* pairsOf(
  joined: RequestView['joined'],
): Generator<{ readonly call: Placed; readonly response: Placed }> {
  for (const [index, { calls }] of joined.entries()) {
    const responses = joined[index + 1]?.responses ?? []
    for (const [at, call] of calls.entries()) {
      const response = responses[at]
      if (response !== undefined) yield { call, response }
    }
  }
}
