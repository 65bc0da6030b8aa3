import { usageError } from '../command/usage-error.ts'

/** Characters that a backslash takes out of their use; before others it stays, as in a path on Windows. */
const ESCAPED = /[\s"'\\]/
const ASSIGNMENT = /^[A-Za-z_]\w*=/

/**
 * The words of a command line, as a shell would split it: quotes keep white space, a backslash keeps a quote. No shell
 * runs it, so variables, pipes and the like are plain text.
 */
export function commandWords(line: string): readonly string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? ''
    const next = line[at + 1] ?? ''
    if (char === '\\' && quote !== "'" && isEscaped(next, quote)) {
      word = (word ?? '') + next
      at += 1
    } else if (char === quote) quote = ''
    else if (quote !== '') word += char
    else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (!/\s/.test(char)) word = (word ?? '') + char
    else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  if (quote !== '') {
    const message = `The command line \`${line}\` cannot be read: a ${quote} is not closed.`
    throw usageError(message, 'mcp')
  }
  const all = word === undefined ? words : [...words, word]
  if (ASSIGNMENT.test(all[0] ?? '')) {
    const message = `\`${all[0]}\` is not a command: no shell reads this line. Put variables into \`env\` of an entry in \`mcp.json\`.`
    throw usageError(message, 'mcp')
  }
  return all
}

const isEscaped = (next: string, quote: string) =>
  quote === '' ? ESCAPED.test(next) : next === quote || next === '\\'
