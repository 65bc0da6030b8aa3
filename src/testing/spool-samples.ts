const utf8 = (text: string) => new TextEncoder().encode(text)

const BLOCK = 256 * 1024

/** Contents that have broken line indexes before. */
export const SPOOL_SAMPLES: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ['an empty file', utf8('')],
  ['one newline', utf8('\n')],
  ['nothing but newlines', utf8('\n'.repeat(100_000))],
  ['a line without a trailing newline', utf8('alone')],
  ['CRLF line ends', utf8('one\r\ntwo\r\n\r\nfour')],
  ['NUL bytes', utf8('a\0b\n\0\n\0')],
  ['invalid UTF-8', Uint8Array.of(0xff, 0xfe, 10, 0xc3, 10, 0xed, 0xa0, 0x80, 10, 0xf0, 0x9f)],
  ['multi-byte text across every chunk border', utf8('🧵ä\n'.repeat(120_000))],
  ['exactly one block', utf8(`${'x'.repeat(BLOCK - 1)}\n`)],
  ['one byte more than a block', utf8(`${'x'.repeat(BLOCK)}\n`)],
  [
    'a newline on each side of a block border',
    utf8(`${'x'.repeat(BLOCK - 1)}\n\n${'y'.repeat(9)}`),
  ],
  ['a line that spans many blocks', utf8(`a\n${'long'.repeat(500_000)}\nz\n`)],
  ['many lines of uneven length', utf8(unevenLines())],
]

function unevenLines(): string {
  let text = ''
  for (let i = 0; i < 30_000; i++) text += `${i} ${'-'.repeat((i * 7919) % 97)}\n`
  return text
}
