import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { isBobbinError } from '../../core/error/error.ts'
import type { EndedMember } from './json-member.ts'
import { JsonScanner } from './json-scanner.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function scan(text: string, pieceBytes = 1_000, lines = false) {
  const members: EndedMember[] = []
  const values: unknown[] = []
  const listener = {
    begin: () => 'keep' as const,
    end: (member: EndedMember) => {
      members.push(member)
      values.push(JSON.parse(new TextDecoder().decode(member.bytes)))
      return 'continue' as const
    },
  }
  const scanner = new JsonScanner(listener, { byte: 0, lines, whole: !lines })
  const bytes = encode(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    scanner.write(bytes.subarray(at, at + pieceBytes))
  }
  scanner.finish()
  return { members, values, type: scanner.type }
}

const accepts = (text: string, pieceBytes = 3): boolean => {
  try {
    scan(text, pieceBytes)
    return true
  } catch (error) {
    if (!isBobbinError(error, 'E_ARTIFACT_MALFORMED')) throw error
    return false
  }
}

describe('JsonScanner', () => {
  it('finds the members that JSON.parse finds, whatever the pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 9 }), (values, piece) => {
        expect(scan(JSON.stringify(values), piece).values).toEqual(
          JSON.parse(JSON.stringify(values)),
        )
        const pretty = JSON.stringify(values, null, 2)
        expect(scan(pretty, piece).values).toEqual(JSON.parse(pretty))
      }),
    )
  })

  it('finds the keys that JSON.parse finds, `__proto__` among them', () => {
    const keys = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('__proto__'))
    fc.assert(
      fc.property(fc.dictionary(keys, fc.jsonValue()), fc.nat(8), (record, piece) => {
        const text = JSON.stringify(record)
        const { members, values } = scan(text, piece + 1)
        expect(members.map(({ key }) => key)).toEqual(Object.keys(JSON.parse(text)))
        expect(values).toEqual(Object.values(JSON.parse(text)))
      }),
      { numRuns: runs(40) },
    )
  })

  it('accepts exactly what JSON.parse accepts', () => {
    const fragment = fc.constantFrom(
      ...['{', '}', '[', ']', ':', ',', '"', '"a"', '\\', '\\u00e9', '0', '-', '1', '.', 'e', '+'],
      ...['true', 'null', 'nul', ' ', '\n', '\t', 'é', '\u0001', '"a":', '1.5e3', '[]', '{}'],
    )
    fc.assert(
      fc.property(fc.array(fragment, { minLength: 1, maxLength: 8 }), (fragments) => {
        const text = `[${fragments.join('')}]`
        expect({ text, accepted: accepts(text) }).toEqual({ text, accepted: isJson(text) })
      }),
      { numRuns: runs(3_000) },
    )
  })

  it('accepts a damaged document exactly when JSON.parse does, cut at every byte', () => {
    const damage = fc.tuple(
      fc.nat(),
      fc.constantFrom(
        '',
        '"',
        '\\',
        ',',
        ':',
        '[',
        '}',
        '0',
        '-',
        '.',
        'e',
        'u',
        ' ',
        '\t',
        '\u0000',
      ),
      fc.nat(2),
    )
    fc.assert(
      fc.property(
        fc.json({ stringUnit: 'binary' }),
        fc.array(damage, { maxLength: 2 }),
        (json, all) => {
          let text = `[${json}]`
          for (const [at, put, drop] of all) {
            const place = at % text.length
            text = text.slice(0, place) + put + text.slice(place + drop)
          }
          // A document whose members are not watched ends at its first value.
          if (!text.startsWith('[')) text = `[${text}`
          const whole = text.isWellFormed() ? text : text.toWellFormed()
          for (const piece of [1, 2, 1_000]) {
            const accepted = accepts(whole, piece)
            expect({ whole, piece, accepted }).toEqual({ whole, piece, accepted: isJson(whole) })
          }
        },
      ),
      { numRuns: runs(1_500) },
    )
  })

  it('takes and refuses what JSON.parse does, any root, wherever the text is cut in two', () => {
    const space = fc.constantFrom('', ' ', '\n', '\t\r\n ')
    const behind = fc.constantFrom('', '', '', ' ', ',', ']', '}', '1', '"', '{}', 'null', '\ufeff')
    const damage = fc.tuple(fc.nat(), fc.constantFrom('', '"', '\\', ',', '}', '-', 'e', '\u0001'))
    const json = fc.oneof(fc.json({ stringUnit: 'binary', maxDepth: 2 }), fc.constant('-0.5e+10'))
    fc.assert(
      fc.property(space, json, behind, fc.option(damage), (before, value, after, broken) => {
        let text = before + value + after
        if (broken !== null) {
          const at = broken[0] % text.length
          text = text.slice(0, at) + broken[1] + text.slice(at + 1)
        }
        const bytes = encode(text.toWellFormed())
        const expected = isJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
        for (let cut = 0; cut <= bytes.length; cut++) {
          expect({ text, cut, accepted: acceptsCut(bytes, cut) }).toEqual({
            text,
            cut,
            accepted: expected,
          })
        }
      }),
      { numRuns: runs(400) },
    )
  })

  it('finds the same members wherever the text is cut in two', () => {
    const text =
      '[{"a\\u00e9\\"":"\\ud83e\\uddf5 🧵","a":-0.5e+10},[[],{}],"\\\\",true,null,1E2,-0,"é"]'
    const bytes = encode(text)
    for (let at = 0; at <= bytes.length; at++) {
      const values: unknown[] = []
      const scanner = new JsonScanner(
        {
          begin: () => 'keep',
          end: (member) => (
            values.push(JSON.parse(new TextDecoder().decode(member.bytes))), 'continue'
          ),
        },
        { byte: 0, whole: true },
      )
      scanner.write(bytes.subarray(0, at))
      scanner.write(bytes.subarray(at))
      scanner.finish()
      expect(values).toEqual(JSON.parse(text))
    }
  })

  it('counts what repeats: both members of one key are there, in order', () => {
    const { members, values } = scan('{"a":1,"a":2}', 1)
    expect(members.map(({ key }) => key)).toEqual(['a', 'a'])
    expect(values).toEqual([1, 2])
  })

  it('nests to a thousand levels and no further', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(accepts(nested(1_000))).toBe(true)
    expect(accepts(nested(1_001))).toBe(false)
  })

  it('tells where a fault is and what should be there', () => {
    const fault = (text: string) => {
      try {
        scan(text)
      } catch (error) {
        if (isBobbinError(error, 'E_ARTIFACT_MALFORMED'))
          return [error.data.position, error.message]
      }
      return undefined
    }
    expect(fault('[1, oops]')).toEqual([4, expect.stringContaining('`o`, where a value should be')])
    expect(fault('{"a" 1}')).toEqual([5, expect.stringContaining('`1`, where `:` should be')])
    expect(fault('["abc')).toEqual([5, expect.stringContaining('the text ends here')])
    expect(fault('['.repeat(5_000))).toEqual([1_000, expect.stringContaining('nested deeper')])
  })

  it('reads the values of NDJSON', () => {
    expect(scan('{"a":1}\n[2]\n3\n"x"\r\n\n', 2, true).values).toEqual([{ a: 1 }, [2], 3, 'x'])
    expect(scan('1\n2', 1, true).values).toEqual([1, 2])
    expect(() => scan('1 2', 1, true)).toThrow('a second value on one line')
  })

  it('goes on behind a member', () => {
    const text = '[10,20,30,40]'
    const values: unknown[] = []
    const listener = {
      begin: () => 'keep' as const,
      end: ({ index, bytes }: EndedMember) => {
        values.push([index, JSON.parse(new TextDecoder().decode(bytes))])
        return index === 1 ? ('stop' as const) : ('continue' as const)
      },
    }
    const first = new JsonScanner(listener, { byte: 0 })
    first.write(encode(text))
    expect([first.stopped, first.count, first.behind]).toEqual([true, 2, 6])
    const rest = new JsonScanner(listener, {
      byte: first.behind,
      behind: { container: 'array', count: first.count },
    })
    rest.write(encode(text.slice(first.behind)))
    expect(values).toEqual([10, 20, 30, 40].map((value, index) => [index, value]))
    expect(rest.done).toBe(true)
  })

  it('holds copies, also of buffers that are overwritten', () => {
    const seen: string[] = []
    const scanner = new JsonScanner(
      {
        begin: () => 'keep',
        end: ({ bytes }) => (seen.push(new TextDecoder().decode(bytes)), 'continue'),
      },
      { byte: 0 },
    )
    const buffer = Buffer.alloc(4)
    for (const piece of ['["ab', 'cd",', '"efg', '"]  ']) {
      buffer.write(piece)
      scanner.write(buffer)
    }
    expect(seen).toEqual(['"abcd"', '"efg"'])
  })

  it('cuts a huge key and leaves a huge value out', () => {
    const { members } = (() => {
      const seen: EndedMember[] = []
      const scanner = new JsonScanner(
        { begin: () => 'keep', end: (member) => (seen.push(member), 'continue') },
        { byte: 0 },
      )
      const bytes = encode(`{"${'k'.repeat(2_000_000)}":"${'v'.repeat(2_000_000)}","b":1}`)
      for (let at = 0; at < bytes.length; at += 65_536)
        scanner.write(bytes.subarray(at, at + 65_536))
      return { members: seen }
    })()
    expect(members.map(({ key, bytes }) => [key?.length, bytes?.length])).toEqual([
      [1_000, undefined],
      [1, 1],
    ])
  })
})

function acceptsCut(bytes: Uint8Array, cut: number): boolean {
  const listener = { begin: () => 'keep' as const, end: () => 'continue' as const }
  const scanner = new JsonScanner(listener, { byte: 0, whole: true })
  try {
    scanner.write(bytes.subarray(0, cut))
    scanner.write(bytes.subarray(cut))
    scanner.finish()
    return true
  } catch (error) {
    if (!isBobbinError(error, 'E_ARTIFACT_MALFORMED')) throw error
    return false
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
