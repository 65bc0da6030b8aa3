import { describe, expect, it } from 'vitest'
import { screenOf } from '../../../test/cli/terminal-screen.ts'
import { outputTo } from './output.ts'
import { paintFor } from './paint.ts'
import { Screen } from './screen.ts'
import { writeJson } from './write-json.ts'

/** A screen on a terminal of a size, and what that terminal shows. */
function terminal(columns: number, rows = 24) {
  let written = ''
  const write = (data: unknown) => (written += String(data))
  const stdout = outputTo({ isTTY: true, columns, rows, write })
  const screen = new Screen({ stdout, env: {} })
  return { screen, shown: () => screenOf(written.replaceAll('\n', '\r\n'), columns, rows) }
}

const paint = paintFor({ stdout: { isTTY: true }, env: {} })

const drawn = () => new Promise((resolve) => setTimeout(resolve, 80))

describe('Screen', () => {
  it('leaves no changing line behind when calls begin while others run', async () => {
    const { screen, shown } = terminal(60)
    screen.text('I look.')
    for (const running of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      screen.endText()
      screen.live(running)
      await drawn()
      screen.endText()
    }
    expect(await shown()).toBe('I look.\na\nb\nc')
    for (const [done, ...left] of [['a', 'b', 'c'], ['b', 'c'], ['c']]) {
      screen.live(left)
      screen.line(`${done} is done`)
    }
    screen.clear()
    expect(await shown()).toBe('I look.\na is done\nb is done\nc is done')
  })

  it('takes back more changing lines than the terminal has rows', async () => {
    const { screen, shown } = terminal(60, 5)
    screen.line('begin')
    screen.live(Array.from({ length: 12 }, (_, n) => `call ${n}`))
    await drawn()
    expect(await shown()).toContain('call 2\n  and 9 more')
    screen.clear()
    screen.line('end')
    expect(await shown()).toBe('begin\nend')
  })

  it('cuts a changing line that is wider than the terminal', async () => {
    const { screen, shown } = terminal(20)
    screen.live([`${paint.cyan('|')} ${'猫'.repeat(50)}`])
    await drawn()
    expect(await shown()).toBe('| 猫猫猫猫猫猫猫猫…')
    screen.clear()
    expect(await shown()).toBe('')
  })

  it('breaks streamed text between words, however it is cut on its way', async () => {
    for (const size of [1, 3, 50]) {
      const { screen, shown } = terminal(20)
      const text =
        'The quick brown fox jumps over\n  the lazy dog, abcdefghijklmnopqrstuvwxyz and on.'
      for (let at = 0; at < text.length; at += size) screen.text(text.slice(at, at + size))
      screen.endText()
      expect(await shown()).toBe(
        'The quick brown fox\njumps over\n  the lazy dog,\nabcdefghijklmnopqrst\nuvwxyz and on.',
      )
    }
  })

  it('breaks lines between words, as far in as they begin', async () => {
    const { screen, shown } = terminal(20)
    screen.line(`  ${paint.dim('one two three four five six')}`)
    expect(await shown()).toBe('  one two three four\n  five six')
  })

  it('breaks and cuts nothing outside a terminal', () => {
    let written = ''
    const stdout = outputTo({ write: (data: unknown) => (written += String(data)) })
    const screen = new Screen({ stdout, env: {} })
    screen.text('word '.repeat(50))
    screen.live(['moving'])
    screen.line('x'.repeat(300))
    expect(written).toBe(`${'word '.repeat(50)}\n${'x'.repeat(300)}\n`)
  })
})

describe('outputTo', () => {
  const written = (isTTY: boolean) => {
    const pieces: (string | Uint8Array)[] = []
    return { pieces, output: outputTo({ isTTY, write: (data) => pieces.push(data) }) }
  }

  it('obeys colours of ours and shows those of others', () => {
    const { pieces, output } = written(true)
    output.write(`${paint.red('a\u001b[32m')} b\u009b31m\u202e \u{e000}31m`)
    expect(pieces).toEqual(['\u001b[31ma\\u{1B}[32m\u001b[39m b\\u{9B}31m\\u{202E} \u{e000}31m'])
  })

  it('gives content exactly to a pipe, and shows it on a terminal, also cut inside a character', () => {
    const bytes = new TextEncoder().encode('é\u001b[2J')
    const pipe = written(false)
    pipe.output.data(bytes)
    expect(pipe.pieces).toEqual([bytes])
    const shown = written(true)
    for (const byte of bytes) shown.output.data(new Uint8Array([byte]))
    expect(shown.pieces.join('')).toBe('é\\u{1B}[2J')
  })

  it('writes JSON of the same value without a control character', () => {
    const { pieces, output } = written(true)
    const value = { a: '\u001b\u009b\u202e\u{e0041}é👩‍🚀 \\u{1B} \ud800' }
    writeJson({ stdout: output }, value)
    const json = pieces.join('')
    expect(JSON.parse(json)).toEqual(value)
    expect(json).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202e\u{e0041}]/u)
    expect(json).toContain('é')
  })
})
