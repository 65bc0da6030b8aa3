import { text as readAll } from 'node:stream/consumers'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { WireApi } from '../../wire/index.ts'
import { providers } from '../../wire/providers.ts'
import { readNamedFile } from '../command/named-file.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'

/** A conversation in some provider's protocol. */
export interface WireFile {
  readonly payload: unknown
  readonly api: WireApi
  /** The indentation that it was written with. */
  readonly indent: string
}

/** Reads a conversation from a file, or from standard input for `-`, and finds its protocol. */
export async function readWireFile(
  path: string,
  from: string | undefined,
  io: Io,
): Promise<WireFile> {
  const text = path === '-' ? await readAll(io.stdin) : await readNamedFile(io.cwd, path)
  const payload = parse(text, path)
  return { payload, api: apiOf(payload, from, path), indent: /\n([ \t]+)\S/.exec(text)?.[1] ?? '' }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    const items = lines.length > 1 ? parseLines(lines) : undefined
    if (items !== undefined) return items
    const said = thrownText(error)
    throw usageError(`\`${path}\` is not JSON: ${said}. Write one JSON value, or one item a line.`)
  }
}

function parseLines(lines: readonly string[]): unknown[] | undefined {
  try {
    return lines.map((line) => JSON.parse(line) as unknown)
  } catch {
    return undefined
  }
}

const names = () => providers.map(({ api }) => api)

/** The protocol by name, or from the shape of the payload. */
function apiOf(payload: unknown, from: string | undefined, path: string): WireApi {
  if (from !== undefined) return readApi(from, '--from')
  const found = providers.find(({ detect }) => detect(payload))?.api
  if (found !== undefined) return found
  throw usageError(
    `\`${path}\` does not show which protocol it is in: name it with --from ${names().join(' | ')}.`,
  )
}

export function readApi(name: string, option: string): WireApi {
  const api = names().find((each) => each === name)
  if (api !== undefined) return api
  throw usageError(`\`${option} ${name}\` names no protocol: use ${names().join(', ')}.`)
}
