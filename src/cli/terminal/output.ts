import type { Output, Stream } from './io.ts'
import { forTerminal } from './paint.ts'

/** The one way from a command to a stream: text is shown there, never obeyed. */
export function outputTo(stream: Stream): Output {
  const decoder = new TextDecoder()
  const write = (text: string) => stream.write(forTerminal(text))
  const textOf = (piece: string | Uint8Array) =>
    typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
  return {
    stream,
    write,
    data: (piece) => (stream.isTTY === true ? write(textOf(piece)) : stream.write(piece)),
    pass: (text) => stream.write(text),
    ...(stream.once && { once: stream.once.bind(stream) }),
    // Read anew each time: the size of a terminal changes.
    get isTTY() {
      return stream.isTTY
    },
    get columns() {
      return stream.columns
    },
    get rows() {
      return stream.rows
    },
  }
}
