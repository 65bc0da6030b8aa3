import { brief } from '../../core/error/cut-text.ts'
import { BobbinError } from '../../core/error/error.ts'

/** The steps of a path: keys of objects and positions in arrays, all as text. */
export type JsonPath = readonly string[]

const STEP = /(?:^|\.)([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\['([^']*)'\]/y
const MAX_STEPS = 100

/** Reads a path such as `users[0].name`, `["a.b"].c` or `/users/0/name` (a JSON Pointer); empty is the root. */
export function parsePath(text: string): JsonPath {
  if (typeof text !== 'string') {
    const message = "A path must be a string, such as `users[0].name`; the root is `''`."
    throw new BobbinError('E_INVALID_PATH', message, { path: typeof text })
  }
  if (text.startsWith('/')) {
    const steps = text.slice(1).split('/')
    if (steps.length > MAX_STEPS) throw unreadable(text)
    return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  const path = text.replace(/^\$\.?/, '')
  const steps: string[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < path.length) {
    const match = STEP.exec(path)
    if (match === null || steps.length === MAX_STEPS) throw unreadable(text)
    const [, name, index, quoted, single] = match
    steps.push(name ?? index ?? single ?? unquote(quoted ?? '', text))
  }
  return steps
}

/** A path as a person would write it. */
export function formatPath(path: JsonPath): string {
  const shown = path
    .map((step) => {
      if (/^\d+$/.test(step)) return `[${step}]`
      return /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
    })
    .join('')
  return brief(`$${shown}`, 200)
}

/** An error for a path that leads nowhere, with what there is instead. */
export function pathLeadsNowhere(path: JsonPath, why: string): BobbinError<'E_INVALID_PATH'> {
  const shown = formatPath(path)
  return new BobbinError('E_INVALID_PATH', `The path \`${shown}\` leads nowhere: ${why}.`, {
    path: shown,
  })
}

function unquote(quoted: string, text: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    throw unreadable(text)
  }
}

function unreadable(text: string): BobbinError<'E_INVALID_PATH'> {
  const path = brief(text, 100)
  const message = `The path \`${path}\` cannot be read: write it as in \`users[0].name\`, with \`["…"]\` around keys that hold dots or brackets, or as a JSON Pointer such as \`/users/0/name\`.`
  return new BobbinError('E_INVALID_PATH', message, { path })
}
