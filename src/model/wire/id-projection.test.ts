import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WireReference } from '../../core/wire-reference.ts'
import { IdProjection } from './id-projection.ts'

const rules = { refused: /[^a-zA-Z0-9_-]/g, maxLength: 40 }
const from = (api: string, callId?: string): WireReference => ({
  provider: api,
  api,
  type: 'call',
  ...(callId !== undefined && { callId }),
  origin: callId === undefined ? 'synthetic' : 'natural',
})

describe('IdProjection', () => {
  it('gives a wire its own id back verbatim, whatever it looks like', () => {
    const projection = new IdProjection('here', rules)
    const own = `functions.x:0 ${'y'.repeat(80)}`
    expect(projection.of({ id: 'a~2', wire: from('here', own) })).toBe(own)
  })

  it('fits an id of its own that the wire would refuse', () => {
    const takesBack = (id: string) => id.length <= 40
    const projection = new IdProjection('here', { ...rules, takesBack })
    const [long, fine] = ['x'.repeat(80), 'functions.x:0']
    expect(projection.of({ id: long, wire: from('here', long) })).toMatch(/^x{23}_[0-9a-f]{16}$/)
    expect(projection.of({ id: fine, wire: from('here', fine) })).toBe(fine)
  })

  it('keeps a foreign id that fits', () => {
    const projection = new IdProjection('here', rules)
    expect(projection.of({ id: 'call_1', wire: from('there', 'call_1') })).toBe('call_1')
  })

  it('fits what does not, keeping long ids that share a beginning apart', () => {
    const projection = new IdProjection('here', rules)
    const [a, b] = ['a', 'b'].map((end) =>
      projection.of({ id: `${'x'.repeat(60)}${end}`, wire: from('there', 'x') }),
    )
    expect(a).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
    expect(a).not.toBe(b)
  })

  it('gives one of two calls another id when both came under the same', () => {
    const projection = new IdProjection('here', rules)
    const first = { id: 'call_0', wire: from('here', 'call_0') }
    const second = { id: 'call_0~2', wire: from('here', 'call_0') }
    expect(projection.of(first)).toBe('call_0')
    expect(projection.of(second)).not.toBe('call_0')
    expect(projection.of(first)).toBe('call_0')
  })

  it('is injective and obeys the rules for any ids', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1, maxLength: 60 })), (ids) => {
        const projection = new IdProjection('here', rules)
        const projected = ids.map((id) => projection.of({ id, wire: from('there', id) }))
        expect(new Set(projected).size).toBe(ids.length)
        for (const id of projected) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
      }),
    )
  })
})
