import { parse as csvParse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { isBobbinError } from '../../core/error/error.ts'
import { runAtOnce } from '../query/steps.ts'
import { CsvScanner } from './csv-scanner.ts'

function parse(text: string, pieceBytes = 1_000, delimiter = ','): string[][] {
  const rows: string[][] = []
  const start = { byte: 0, index: 0 }
  const scanner = new CsvScanner(delimiter.charCodeAt(0), start, (row) => {
    rows.push(runAtOnce(row.cells()))
    return 'continue'
  })
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    scanner.write(bytes.subarray(at, at + pieceBytes))
  }
  scanner.finish()
  return rows
}

const quote = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

describe('CsvScanner', () => {
  it('reads back what was written by RFC 4180, whatever the pieces', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', '👋', '"', ',', '\n', '\r\n', ' ') })
    const row = fc.tuple(fc.constant('x'), cell, cell)
    fc.assert(
      fc.property(fc.array(row), fc.integer({ min: 1, max: 7 }), (rows, piece) => {
        const text = rows.map((cells) => cells.map(quote).join(',')).join('\r\n')
        expect(parse(text, piece)).toEqual(rows)
        expect(parse(`${text}\n`, piece)).toEqual(rows)
      }),
    )
  })

  it('reads what csv-parse reads, whatever the delimiter, the quotes and the pieces', () => {
    const delimiters = fc.constantFrom(',', '\t', ';', '|')
    const plain = fc.string({ unit: fc.constantFrom('a', 'é', '👋', ' ', '-', '0'), maxLength: 4 })
    const inner = fc.constantFrom(
      'a',
      'é',
      '👋',
      '""',
      ',',
      ';',
      '\t',
      '|',
      '\n',
      '\r\n',
      '\r',
      ' ',
    )
    const quoted = fc.array(inner, { maxLength: 6 }).map((parts) => `"${parts.join('')}"`)
    const cells = fc.array(fc.oneof(plain, quoted), { minLength: 1, maxLength: 4 })
    const rows = fc.array(fc.tuple(cells, fc.constantFrom('\n', '\r\n')), { maxLength: 8 })
    const piece = fc.integer({ min: 1, max: 9 })
    fc.assert(
      fc.property(rows, delimiters, piece, fc.boolean(), (written, delimiter, size, isOpen) => {
        const all = written.map(([row, end]) => row.join(delimiter) + end).join('')
        const text = isOpen ? all.replace(/\r?\n$/, '') : all
        const expected = csvParse(text, {
          delimiter,
          record_delimiter: ['\n', '\r\n'],
          relax_column_count: true,
          skip_empty_lines: true,
        })
        expect(parse(text, size, delimiter)).toEqual(expected)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('takes a quote in the middle of a cell as it is', () => {
    expect(parse('5" pipe,a\nb,c')).toEqual([
      ['5" pipe', 'a'],
      ['b', 'c'],
    ])
    expect(parse('"a" b,c')).toEqual([['a b', 'c']])
  })

  it('keeps what stands behind a closing quote, its own quotes included', () => {
    expect(parse('"a"b"c,d')).toEqual([['ab"c', 'd']])
    expect(parse('"a""b"x""y,z')).toEqual([['a"bx""y', 'z']])
    expect(parse('"a" "b,c" d\n"never closed')).toEqual([['a "b', 'c" d'], ['never closed']])
  })

  it('goes on behind a row that asked for a pause, wherever the pieces end', () => {
    const text = 'a,b\n"1\n",2\r\n\n3,"4""'
    const bytes = new TextEncoder().encode(text)
    for (let size = 1; size <= bytes.length; size++) {
      const rows: string[][] = []
      const ends: number[] = []
      const scanner = new CsvScanner(44, { byte: 0, index: 0 }, (row) => {
        rows.push(runAtOnce(row.cells()))
        ends.push(row.end)
        return 'pause'
      })
      const resume = () => {
        while (scanner.paused) scanner.resume()
      }
      for (let at = 0; at < bytes.length; at += size) {
        scanner.write(bytes.subarray(at, at + size))
        resume()
      }
      scanner.finish()
      resume()
      const expected = [
        ['a', 'b'],
        ['1\n', '2'],
        ['3', '4"'],
      ]
      expect({ size, rows, ends }).toEqual({ size, rows: expected, ends: [4, 12, bytes.length] })
    }
  })

  it('passes over blank lines and keeps empty cells', () => {
    expect(parse('a,b\n\n,\n\r\nc,')).toEqual([
      ['a', 'b'],
      ['', ''],
      ['c', ''],
    ])
  })

  it('splits at other delimiters', () => {
    expect(parse('a\tb,c', 9, '\t')).toEqual([['a', 'b,c']])
  })

  it('cuts a cell at 65,536 characters, never within a pair', () => {
    const long = 'x'.repeat(65_535)
    const rows = parse(`${long}👋,${long}yz\n"${long}👋","${'""'.repeat(70_000)}"`, 5_000)
    expect(rows).toEqual([
      [long, `${long}y`],
      [long, '"'.repeat(65_536)],
    ])
  })

  it('refuses a row that does not end, naming where it begins', () => {
    const broken = `a,b\n"never closed,${'x,\n'.repeat(500_000)}`
    const refused = () => parse(broken, 65_536)
    expect(refused).toThrow('begins at byte 4')
    try {
      refused()
    } catch (error) {
      expect(isBobbinError(error, 'E_ARTIFACT_MALFORMED')).toBe(true)
    }
  })
})
