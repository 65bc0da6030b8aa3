import { BobbinError } from '../../core/error/error.ts'
import { MAX_ENTRY_CHARS } from '../rows/entry-text.ts'
import { EXPORT_VERSION, type ExportLine } from './export-conversation.ts'

/** The lines of an import, read one at a time. */
export interface ImportLines {
  /** The next line that is not blank; undefined at the end. */
  next(): Promise<ExportLine | undefined>
  /** How long the last line is. */
  readonly length: number
  /** The error that names the last line. */
  invalid(rule: string): BobbinError<'E_INVALID_IMPORT'>
  close(): Promise<void>
}

/** The most characters of one line. */
export const MAX_LINE_CHARS = MAX_ENTRY_CHARS + 1024

/** Parses line by line, so that memory does not grow with the file. */
export function importLines(source: AsyncIterable<string> | Iterable<string>): ImportLines {
  const iterator = linesOf(source)
  let line = 0
  let length = 0
  const invalid = (rule: string) =>
    new BobbinError('E_INVALID_IMPORT', `Line ${line} of the import ${rule}.`, { line, rule })
  return {
    get length() {
      return length
    },
    invalid,
    async next() {
      for (;;) {
        const step = await iterator.next()
        line++
        if (step.done) return undefined
        const text: unknown = step.value
        if (typeof text !== 'string') throw invalid('must be a string')
        length = text.length
        if (length > MAX_LINE_CHARS) throw invalid(`must have at most ${MAX_LINE_CHARS} characters`)
        if (text.trim() !== '') return parsed(text, invalid)
      }
    },
    close: async () => void (await iterator.return(undefined)),
  }
}

async function* linesOf(source: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  yield* source
}

function parsed(text: string, invalid: ImportLines['invalid']): ExportLine {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw invalid('must be JSON')
  }
  const has = (key: string, test: (value: unknown) => boolean) =>
    typeof json === 'object' &&
    json !== null &&
    Object.hasOwn(json, key) &&
    test(Reflect.get(json, key))
  if (has('bobbin', (value) => value === 'conversation')) {
    if (!has('v', (v) => v === EXPORT_VERSION)) {
      throw invalid(`must have a version that is known here, up to ${EXPORT_VERSION}`)
    }
    if (!has('conversation', isText)) throw invalid('must name its conversation')
    return json as ExportLine
  }
  const isLine =
    (has('artifact', isText) && has('byteLength', isCount)) ||
    has('chunk', isText) ||
    has('entry', isObject) ||
    has('end', isObject)
  if (isLine) return json as ExportLine
  throw invalid('must be an artifact, a chunk, an entry or the end')
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
const isObject = (value: unknown) => typeof value === 'object' && value !== null
