import type { WireRule } from '../../../../model/wire/wire-adapter.ts'
import { asWord } from '../../../../model/wire/wire-value.ts'
import { wantsSignatures } from '../../wire/model-version.ts'
import { isInput, serverStep } from '../wire/wire.ts'
import type { PlacedStep, RequestView } from './request-view.ts'

const COUNT =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'

/** What pairs calls with results, and orders them. */
export const PAIR_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'missing-result',
    prevents: COUNT,
    *check({ steps }) {
      for (const [index, { step, type, path }] of steps.entries()) {
        if (type !== 'function_call') continue
        const id = asWord(step.id)
        const isAnswered = resultsAfter(steps, index).some(
          (each) => asWord(each.step.call_id) === id,
        )
        if (!isAnswered)
          yield { path, message: `has no \`function_result\` right after its response` }
      }
    },
  },
  {
    rule: 'stray-result',
    prevents:
      'Please ensure that function response turn comes immediately after a function call turn.',
    *check({ steps, isStored }) {
      if (isStored) return
      for (const [index, { step, type, path }] of steps.entries()) {
        if (type !== 'function_result') continue
        const id = asWord(step.call_id)
        const isAsked = callsBefore(steps, index).some((each) => asWord(each.step.id) === id)
        if (!isAsked)
          yield { path: `${path}.call_id`, message: `\`${id}\` is the id of no call right before` }
      }
    },
  },
  {
    rule: 'duplicate-id',
    prevents: 'a result that is taken for that of another call: two calls under one id',
    *check({ steps }) {
      const seen = new Set<string>()
      for (const { step, type, path } of steps) {
        const isResult = type.endsWith('_result')
        const id = asWord(isResult ? step.call_id : step.id)
        if (id === undefined || !/_(call|result)$/.test(type)) continue
        const name = `${type} ${id}`
        const member = isResult ? 'call_id' : 'id'
        if (seen.has(name)) yield { path: `${path}.${member}`, message: `\`${id}\` is there twice` }
        seen.add(name)
      }
    },
  },
  {
    rule: 'stray-server-result',
    prevents: 'a 400 for the result of a server tool without its call',
    *check({ steps, isStored }) {
      if (isStored) return
      const asked = new Set<string>()
      for (const { step, type, path } of steps) {
        const server = serverStep(type)
        if (server === undefined) continue
        if (server.isCall) asked.add(`${server.tool} ${asWord(step.id)}`)
        else if (!asked.has(`${server.tool} ${asWord(step.call_id)}`)) {
          yield { path, message: `there is no \`${server.tool}_call\` before it` }
        }
      }
    },
  },
  {
    rule: 'unsigned-call',
    prevents: 'Function call is missing a thought_signature in functionCall parts.',
    *check({ steps, model }) {
      if (!wantsSignatures(model)) return
      for (const [index, { step, type, path }] of steps.entries()) {
        const before = responseBefore(steps, index)
        if (type !== 'function_call' || before.some((each) => each.type === type)) continue
        if ([step, ...before.map((each) => each.step)].some(({ signature }) => asWord(signature)))
          continue
        yield {
          path,
          message: 'is the first call of its response, and no thought before it is signed',
        }
      }
    },
  },
  {
    rule: 'model-step-last',
    prevents: 'an empty answer, or a 400 for a request that ends with the model',
    *check({ steps }) {
      const last = steps.at(-1)
      if (last === undefined || last.type === '' || isInput(last.type)) return
      yield { path: last.path, message: 'is the model’s; the last step must be input' }
    },
  },
]

/** The steps of the same response that stand before this one. */
function responseBefore(steps: readonly PlacedStep[], index: number): readonly PlacedStep[] {
  const before = steps.slice(0, index)
  return before.slice(before.findLastIndex(({ type }) => isInput(type)) + 1)
}

/** The results that stand right after the response that a step belongs to. */
function resultsAfter(steps: readonly PlacedStep[], index: number): readonly PlacedStep[] {
  const after = steps.slice(index)
  const begin = after.findIndex(({ type }) => isInput(type))
  if (begin === -1) return []
  const rest = after.slice(begin)
  const end = rest.findIndex(({ type }) => type !== 'function_result')
  return end === -1 ? rest : rest.slice(0, end)
}

/** The calls of the response that stands right before a run of results. */
function callsBefore(steps: readonly PlacedStep[], index: number): readonly PlacedStep[] {
  const before = steps.slice(0, index)
  const last = before.findLastIndex(({ type }) => type !== 'function_result')
  return responseBefore(steps, last + 1).filter(({ type }) => type === 'function_call')
}
