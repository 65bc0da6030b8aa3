import { describe, expect, it } from 'vitest'
import { commandWords } from './command-words.ts'

describe('commandWords', () => {
  it.each([
    ['npx -y  server', ['npx', '-y', 'server']],
    [`node 'my server.mjs' "a b" c' 'd`, ['node', 'my server.mjs', 'a b', 'c d']],
    [`node "say \\"hi\\"" '\\"' it\\'s a\\ b`, ['node', 'say "hi"', '\\"', "it's", 'a b']],
    [`C:\\bin\\node.exe server.js ''`, ['C:\\bin\\node.exe', 'server.js', '']],
    ['  ', []],
  ])('splits %j', (line, words) => {
    expect(commandWords(line)).toEqual(words)
  })

  it('refuses a quote that is not closed, and a variable in place of a command', () => {
    expect(() => commandWords(`node 'server.mjs`)).toThrow(
      "The command line `node 'server.mjs` cannot be read: a ' is not closed.",
    )
    expect(() => commandWords('KEY=1 node server.mjs')).toThrow('`KEY=1` is not a command')
  })
})
