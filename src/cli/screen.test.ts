import { describe, expect, it } from 'vitest'
import { screenOf } from '../../test/cli/terminal-screen.ts'
import { Screen } from './screen.ts'

/** A screen on a terminal of a size, and what that terminal shows. */
function terminal(columns: number, rows = 24) {
  let written = ''
  const stdout = { isTTY: true, columns, rows, write: (data: unknown) => (written += String(data)) }
  const screen = new Screen({ stdout, env: {} })
  return { screen, shown: () => screenOf(written.replaceAll('\n', '\r\n'), columns, rows) }
}

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
    screen.live(['\u001b[36m|\u001b[39m 猫'.padEnd(60, '猫')])
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
    screen.line('  \u001b[2mone two three four five six\u001b[22m')
    expect(await shown()).toBe('  one two three four\n  five six')
  })

  it('breaks and cuts nothing where there is no terminal', () => {
    let written = ''
    const stdout = { write: (data: unknown) => (written += String(data)) }
    const screen = new Screen({ stdout, env: {} })
    screen.text('word '.repeat(50))
    screen.live(['moving'])
    screen.line('x'.repeat(300))
    expect(written).toBe(`${'word '.repeat(50)}\n${'x'.repeat(300)}\n`)
  })
})
