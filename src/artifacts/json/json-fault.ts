import { BobbinError } from '../../core/error/error.ts'

/** What should be, for each of the scanner's states. */
const EXPECTED: readonly string[] = [
  'a value',
  'a value or `]`',
  'a key or `}`',
  'a key in quotes',
  '`:`',
  '`,` or the closing bracket',
  'a value',
  'the end of a string',
  'an escape such as \\n',
  'four hexadecimal digits',
  'true, false or null',
  'nothing more',
]

/** The state in which nothing more should come. */
export const AT_END = EXPECTED.length - 1

/** An error for a byte that should be another one. */
export function unexpectedByte(position: number, byte: number, state: number): BobbinError {
  const found = byte < 0x21 || byte > 0x7e ? `byte ${byte}` : `\`${String.fromCharCode(byte)}\``
  return malformedJson(position, `${found}, where ${EXPECTED[state]} should be`)
}

/** An error for a document that breaks a rule of JSON at `position`. */
export function malformedJson(position: number, what: string): BobbinError<'E_ARTIFACT_MALFORMED'> {
  const message = `This is not valid JSON: byte ${position} is ${what}. The part before it can still be queried; artifact_grep and artifact_cat show the text as it is.`
  return new BobbinError('E_ARTIFACT_MALFORMED', message, { kind: 'json', position })
}
