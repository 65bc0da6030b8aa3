import { BobbinError } from '../core/error/error.ts'
import { nearest } from '../core/options.ts'

/** How the client of one provider is known, and made. */
export interface ClientKind {
  /** The function that makes the model. */
  readonly factory: string
  /** Members of which the client has one; each is a path of names. */
  readonly members: readonly string[]
  /** What to write instead. */
  readonly example: string
  /** Whether a key may stand in the place of the client. */
  readonly takesKey?: boolean
  /** Options that only this provider has. */
  readonly options?: readonly string[]
  /** What to know about parameters that this provider refuses. */
  readonly refuses?: { readonly params: readonly string[]; readonly because: string }
}

const OPTIONS = ['client', 'model', 'hostedTools', 'params', 'streaming', 'maxResponseBytes']
const KEY_OPTIONS = ['apiKey', 'baseUrl', 'fetch']

/** Refuses what no request could be sent with, when the model is made and not when it is first asked. */
export function checkModelOptions(options: unknown, kind: ClientKind): void {
  const { client, model, maxResponseBytes, cache, diagnoseCache, appends, ...others } = (options ??
    {}) as {
    readonly client?: unknown
    readonly model?: unknown
    readonly maxResponseBytes?: unknown
    readonly cache?: unknown
    readonly diagnoseCache?: unknown
    readonly appends?: unknown
  }
  if (kind.takesKey && client === undefined) checkKey(kind, others)
  else if (!kind.members.some((path) => typeof memberOf(client, path) === 'function')) {
    const rule = `must be the provider's own: \`${kind.example}\``
    throw invalid(kind, 'client', rule)
  }
  if (typeof model !== 'string' || model === '') {
    throw invalid(kind, 'model', 'must be the name of a model, a string')
  }
  const isSize = typeof maxResponseBytes === 'number' && maxResponseBytes >= 1
  if (maxResponseBytes !== undefined && !isSize) {
    throw invalid(kind, 'maxResponseBytes', 'must be a number of bytes, 1 or more')
  }
  for (const [name, value] of Object.entries({ cache, diagnoseCache, appends })) {
    const isTaken = kind.options?.includes(name) ?? false
    if (isTaken && value !== undefined && typeof value !== 'boolean') {
      throw invalid(kind, name, 'must be true or false, or be left out')
    }
  }
  const keyed = kind.takesKey && client === undefined ? KEY_OPTIONS : []
  const names = [...OPTIONS, ...keyed, ...(kind.options ?? [])]
  const stray = Object.keys(options as object).find((name) => !names.includes(name))
  if (stray !== undefined) throw invalid(kind, stray, strayRule(kind, stray, names))
}

function checkKey(
  kind: ClientKind,
  { apiKey, baseUrl, fetch }: { apiKey?: unknown; baseUrl?: unknown; fetch?: unknown },
): void {
  // A `fetch` of the user's own may add the key.
  const isLeftOut = apiKey === undefined && fetch !== undefined
  if (!isLeftOut && (typeof apiKey !== 'string' || apiKey === '')) {
    throw invalid(kind, 'apiKey', `must be a key, or give a client: \`client: ${kind.example}\``)
  }
  if (baseUrl !== undefined && (typeof baseUrl !== 'string' || !URL.canParse(baseUrl))) {
    throw invalid(kind, 'baseUrl', 'must be a URL, or be left out')
  }
  if (fetch !== undefined && typeof fetch !== 'function') {
    throw invalid(kind, 'fetch', 'must be a function, or be left out')
  }
}

/** Most stray options are parameters of the request. */
function strayRule({ refuses }: ClientKind, name: string, names: readonly string[]): string {
  if (refuses?.params.includes(name)) return `is not an option: ${refuses.because}`
  const near = nearest(name, names)
  return near === undefined
    ? `is not an option: put it under \`params\`, as in \`params: { ${name}: … }\``
    : `is not an option: use \`${near}\`, or put it under \`params\``
}

function memberOf(client: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (at, name) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[name],
      client,
    )
}

function invalid({ factory }: ClientKind, path: string, rule: string): BobbinError {
  const message = `\`${path}\` of \`${factory}\` ${rule}.`
  return new BobbinError('E_INVALID_MODEL', message, { path, rule })
}
