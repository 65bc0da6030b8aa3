import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../../core/error.ts'
import { adapters } from '../../wire/adapters.ts'
import { wire } from '../../wire/index.ts'

const codec = wire('gemini', { secret: new Uint8Array(32) })

const idOf = (kind: string) => fc.constantFrom(undefined, null, '', `${kind}1`, `${kind}2`)
const id = idOf('fun')
const name = fc.constantFrom('f', 'g', 'constructor', '', '1 x', undefined)
const odd = fc.constantFrom<unknown>(
  undefined,
  null,
  7,
  'text',
  [],
  {},
  { output: 'x' },
  { error: 'y' },
)
const signature = fc.constantFrom({}, { thoughtSignature: 'c2ln' })

/** A part with what stands beside it. */
function held(kind: string, members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return fc.record({ beside: signature, value: fc.record(members) }).map(({ beside, value }) => {
    // What is undefined is not on the wire.
    const sent = JSON.parse(JSON.stringify(value)) as unknown
    return { [kind]: sent, ...beside }
  })
}

const text = fc.record({ text: fc.constantFrom('', 'x', 'y'), beside: signature })
const media = held('inlineData', {
  mimeType: fc.constantFrom('image/png', undefined),
  data: fc.constant('AA=='),
})
const either = [
  media,
  held('tomorrow', { n: fc.nat() }),
  text.map(({ text: said, beside }) => ({ text: said, ...beside })),
]
const modelPart = fc.oneof(
  held('functionCall', { id, name, args: odd }),
  held('executableCode', { id: idOf('code'), code: fc.constant('1') }),
  held('codeExecutionResult', { id: idOf('code'), outcome: fc.constant('OUTCOME_FAILED') }),
  held('toolCall', { id: idOf('srv'), toolType: fc.constantFrom('S', undefined), args: odd }),
  held('toolResponse', { id: idOf('srv'), toolType: fc.constant('S'), response: odd }),
  fc.constant({ text: 'hm', thought: true }),
  ...either,
)
const userPart = fc.oneof(held('functionResponse', { id, name, response: odd }), ...either)

const turn = (role: fc.Arbitrary<string>, part: fc.Arbitrary<object>) =>
  fc.record({ role, parts: fc.array(part, { maxLength: 4 }) })
const contents = fc.array(
  fc.oneof(
    turn(fc.constant('model'), modelPart),
    turn(fc.constant('user'), userPart),
    turn(fc.constantFrom('model', 'user'), fc.oneof(modelPart, userPart)),
  ),
  { maxLength: 5 },
)

describe('a history of generateContent', () => {
  it('goes back as something that the wire takes, whatever it held', () => {
    fc.assert(
      fc.property(contents, (history) => {
        const { items, calls } = codec.decode(history)
        expect(new Set(calls.map((call) => call.id)).size).toBe(calls.length)
        expect(codec.validate(codec.encode(items))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('no longer changes once it went back', () => {
    fc.assert(
      fc.property(contents, (history) => {
        const part1 = codec.encode(codec.decode(history).items)
        expect(codec.encode(codec.decode(part1).items)).toEqual(part1)
      }),
      { numRuns: 500 },
    )
  })

  it('goes to every other protocol', () => {
    fc.assert(
      fc.property(contents, (history) => {
        const { items } = codec.decode(history)
        for (const { api } of adapters) {
          const other = wire(api)
          expect(other.validate(other.encode(items))).toEqual([])
        }
      }),
    )
  })

  it('breaks nothing when it is no history at all', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (payload) => {
        for (const read of [() => codec.decode(payload), () => codec.decodeStream([payload])]) {
          try {
            read()
          } catch (error) {
            expect(isBobbinError(error)).toBe(true)
          }
        }
        codec.validate(payload)
      }),
    )
  })
})
