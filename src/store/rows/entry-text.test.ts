import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { canonicalStringify } from '../../core/json/canonical.ts'
import { ToolCall } from '../../records/tool-call.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { columnText, decodeEntry, encodeEntry } from './entry-text.ts'

// Half surrogates, NUL, backslashes and long texts, more often than chance would bring them.
const hostileText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('\0', '\\', '\\\\', '\\u0000', '\ud83e', '\udea1', 'a', '#', '\\#'))
    .map((parts) => parts.join('')),
  fc.integer({ min: 250, max: 260 }).map((length) => 'x'.repeat(length)),
)

describe('columnText', () => {
  it('keeps different texts different, in a form that every database takes', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (a, b) => {
        const [left, right] = [columnText(a), columnText(b)]
        expect(left === right).toBe(a === b)
        expect(left.isWellFormed() && !left.includes('\0')).toBe(true)
        expect(left.length).toBeLessThanOrEqual(256 * 6)
      }),
      { numRuns: runs(2000) },
    )
  })
})

describe('encodeEntry', () => {
  it('writes what decodeEntry reads, whatever the record holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), hostileText, (args, id) => {
        fc.pre(id !== '')
        const json = JSON.parse(JSON.stringify(args))
        const entry = sample.settlement('t', id, { args: json })
        const stamp = { seq: 7, time: 1_767_312_000_000, epoch: 3 }
        const row = encodeEntry(entry, stamp)
        const decoded = decodeEntry('c', row)
        expect(decoded).toEqual({ v: 2, ...entry, ...stamp, digest: row.digest })
        expect(encodeEntry(decoded, stamp)).toEqual(row)
      }),
      { numRuns: runs(300) },
    )
  })

  it('writes the same bytes for a record, for its JSON, and after its digest was asked for', () => {
    const stamp = { seq: 7, time: 1_767_312_000_000, epoch: 3, redacted: ['/args/key'] }
    const { data: json, ...rest } = sample.settlement('t', 'c1', { args: { b: 1, a: ['é'] } })
    const record = ToolCall.fromJSON(json)
    const wholly = canonicalStringify({ v: 2, ...rest, ...stamp, data: json })
    const write = () => encodeEntry({ ...rest, data: record as never }, stamp).body
    const bodies = [write(), record.digest && write(), write()]
    expect(bodies).toEqual([wholly, wholly, wholly])
  })
})
