import { BobbinError } from '../core/error.ts'

/** How the client of one provider is known, and made. */
export interface ClientKind {
  /** The function that makes the model. */
  readonly factory: string
  /** Members of which the client has one; each is a path of names. */
  readonly members: readonly string[]
  /** What to write instead. */
  readonly example: string
}

/** Refuses what no request could be sent with, when the model is made and not when it is first asked. */
export function checkModelOptions(options: unknown, kind: ClientKind): void {
  const { client, model } = (options ?? {}) as {
    readonly client?: unknown
    readonly model?: unknown
  }
  if (!kind.members.some((path) => typeof memberOf(client, path) === 'function')) {
    const rule = `must be the provider's own: \`${kind.example}\``
    throw invalid(kind, 'client', rule)
  }
  if (typeof model !== 'string' || model === '') {
    throw invalid(kind, 'model', 'must be the name of a model, a string')
  }
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
