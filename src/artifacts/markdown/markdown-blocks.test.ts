import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { type MarkdownBlock, MarkdownBlocks } from './markdown-blocks.ts'

const LINES = [
  ...['# heading', 'text', '', '---', '===', '```js', '```', '~~~~', '~~~', '<!-- open', 'end -->'],
  ...['<!-- one line -->', '    # code', '## b ##', '````', '...'],
]

describe('MarkdownBlocks', () => {
  it('finds the same blocks wherever a scan ends and another goes on', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 14 }), (lines) => {
        const whole = new MarkdownBlocks()
        const expected = [...lines.flatMap((line) => whole.take(line)), ...whole.finish()]
        for (let cut = 0; cut <= lines.length; cut++) {
          const first = new MarkdownBlocks()
          const found: MarkdownBlock[] = lines.slice(0, cut).flatMap((line) => first.take(line))
          const { line, opened } = first.place
          const inside =
            opened === undefined ? undefined : { line: opened, text: lines[opened] ?? '' }
          const rest = new MarkdownBlocks(line, inside)
          found.push(...lines.slice(line).flatMap((text) => rest.take(text)), ...rest.finish())
          expect({ cut, found }).toEqual({ cut, found: expected })
        }
      }),
      { numRuns: runs(2_000) },
    )
  })
})
