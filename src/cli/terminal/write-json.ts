import { shownText } from '../../text/visible-text.ts'
import type { Output } from './io.ts'

/** Writes one value as a line of JSON. */
export function writeJson({ stdout }: { readonly stdout: Output }, value: unknown): void {
  stdout.pass(`${shownJson(JSON.stringify(value))}\n`)
}

/** JSON of the same value, with escapes in place of what a terminal would obey or not show. */
const shownJson = (json: string) =>
  json.replace(/[^\x20-\x7e]/gu, (char) =>
    shownText(char) === char
      ? char
      : Array.from({ length: char.length }, (_, at) => escaped(char.charCodeAt(at))).join(''),
  )

const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`
