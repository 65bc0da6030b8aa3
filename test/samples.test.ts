import { describe, expect, it } from 'vitest'
import { blocksWithoutSource, withSamples } from '../scripts/docs/samples.mjs'

const file = [
  '// A program.',
  'function main() {',
  '  // #region body',
  '  if (true) {',
  '    run()',
  '  }',
  '',
  '  // #endregion body',
  '}',
  '',
].join('\n')
const page = (marker: string, ...code: string[]) =>
  ['# A page', '', marker, '```js', ...code, '```', 'and prose', ''].join('\n')
const fill = (text: string) => withSamples(text, () => file)

describe('withSamples', () => {
  it('fills a block from a region, without its indentation', () => {
    const marker = '<!-- from examples/a.mjs#body -->'
    expect(fill(page(marker, 'old', 'code'))).toBe(page(marker, 'if (true) {', '  run()', '}', ''))
  })

  it('fills a block from a whole file, without the marks of regions', () => {
    const marker = '<!-- from examples/a.mjs -->'
    const whole = file
      .trimEnd()
      .split('\n')
      .filter((line) => !line.includes('region'))
    expect(fill(page(marker))).toBe(page(marker, ...whole))
  })

  it('leaves blocks alone that have no marker right above them', () => {
    const text = page('<!-- from examples/a.mjs#body -->\n', 'own code')
    expect(fill(text)).toBe(text)
  })

  it('refuses a region that the file does not have', () => {
    expect(() => fill(page('<!-- from examples/a.mjs#gone -->'))).toThrow(
      '`examples/a.mjs` has no region `gone`.',
    )
  })

  it('refuses a block without end', () => {
    expect(() => fill('```js\ncode\n')).toThrow('The code block at line 1 has no end.')
  })
})

describe('blocksWithoutSource', () => {
  it('names the lines of programs that come from no file', () => {
    const text = [page('', 'a'), page('<!-- from examples/a.mjs -->', 'b'), page('', 'c')].join('')
    expect(blocksWithoutSource(text)).toEqual([4, 18])
  })

  it('lets shell commands, output and pictures stand', () => {
    expect(blocksWithoutSource('```sh\nls\n```\n\n```\n--->\n```\n\n```text\nx\n```\n')).toEqual([])
  })
})
