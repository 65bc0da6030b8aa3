import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withInputText } from './argument-text.ts'

const block = (input: unknown) => ({ type: 'tool_use', id: 'toolu_1', name: 'n', input })
const parsed = (source: string) => withInputText(JSON.parse(source), source)

describe('withInputText', () => {
  it('gives the text of the arguments, spaces and all', () => {
    const source =
      '{ "type" : "content_block_start", "content_block" : {"id":"}{", "input" : { "a" : [1, "]"] } , "type":"tool_use"} }'
    expect(parsed(source)).toMatchObject({ content_block: { input: '{ "a" : [1, "]"] }' } })
  })

  it('takes the last of duplicate members, as parsing does', () => {
    const source =
      '{"content_block":{"type":"tool_use","input":{"a":1},"\\u0069nput":{"b":1,"b":2}}}'
    expect(parsed(source)).toMatchObject({ content_block: { input: '{"b":1,"b":2}' } })
  })

  it('leaves blocks alone that are not calls', () => {
    const source = JSON.stringify({ content: [{ type: 'hologram', input: { a: 1 } }, null, 3] })
    expect(parsed(source)).toEqual(JSON.parse(source))
  })

  it.each(['null', '1', '"text"', '[]', '{}'])('leaves %s alone', (source) => {
    expect(parsed(source)).toEqual(JSON.parse(source))
  })

  it('finds every arguments text of any message', () => {
    const inputs = fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }))
    const spaces = fc.constantFrom(undefined, 1, 2, '\t')
    fc.assert(
      fc.property(inputs, fc.jsonValue(), spaces, (values, other, space) => {
        const message = { other, content: values.map(block), last: other }
        for (const value of [message, { message }]) {
          const read = parsed(JSON.stringify(value, null, space)) as Record<string, unknown>
          const { content } = (read['message'] ?? read) as { content: { input: string }[] }
          const found = content.map(({ input }) => JSON.parse(input) as unknown)
          expect(found).toEqual(JSON.parse(JSON.stringify(values)))
        }
      }),
    )
  })
})
