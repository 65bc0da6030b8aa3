import { type ByteSource, decodeText } from './sse.ts'

/**
 * Reads lines of text in batches, one batch per chunk that completed any. Blank lines are left out, and the last line
 * needs no line break.
 */
export async function* readLines(
  source: ByteSource,
): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  // A long line in many chunks must not be copied for each of them.
  let pieces: string[] = []
  for await (const chunk of source) {
    const text = decodeText(decoder, chunk)
    const end = text.lastIndexOf('\n')
    if (end < 0) {
      pieces.push(text)
      continue
    }
    const lines = filled(`${pieces.join('')}${text.slice(0, end)}`)
    pieces = [text.slice(end + 1)]
    if (lines.length > 0) yield lines
  }
  const last = filled(`${pieces.join('')}${decodeText(decoder)}`)
  if (last.length > 0) yield last
}

// JSON takes the CR of a CRLF as white space.
const filled = (text: string) => text.split('\n').filter((line) => line.trim() !== '')
