import { MAX_LINE_CHARS } from '../../store/archive/import-lines.ts'

/**
 * The lines of a stream. A line that is longer than an import takes is given as far as it was read, so that it is refused
 * before it fills the memory.
 */
export async function* linesIn(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pending: string[] = []
  let length = 0
  for await (const chunk of input) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    const [first = '', ...rest] = text.split('\n')
    pending.push(first)
    length += first.length
    for (const begun of rest) {
      yield pending.join('')
      pending = [begun]
      length = begun.length
    }
    if (length > MAX_LINE_CHARS) break
  }
  yield pending.join('') + decoder.decode()
}
