import { BobbinError, isBobbinError } from '../../core/error/error.ts'

/** The server wants a person to sign in. The message has no address: a model may read it. */
export function signInRequired(url?: string): BobbinError<'E_MCP_SIGN_IN'> {
  const wayOut =
    url === undefined
      ? 'The `authProvider` has no token that the server takes: let the person sign in, then try again'
      : 'Send the person to the page in `data.url`, pass the URL of the callback to `finish`, then try again'
  const message = `The MCP server wants a person to sign in. ${wayOut}.`
  return new BobbinError('E_MCP_SIGN_IN', message, { url })
}

/** A sign-in that gave no token. */
export function signInFailed(reason: string): BobbinError<'E_MCP_SIGN_IN_FAILED'> {
  // No cause: errors of the SDK quote what came back, and that may be a token.
  const message = `The sign-in at the MCP server failed: ${reason}.`
  return new BobbinError('E_MCP_SIGN_IN_FAILED', message, { reason })
}

/** Whether an error says that a person must sign in; undefined if it says something else. */
export function asSignIn(error: unknown): BobbinError<'E_MCP_SIGN_IN'> | undefined {
  if (isBobbinError(error, 'E_MCP_SIGN_IN')) return error
  // What a provider of the application's own leads to, once it has sent the person away.
  return nameOf(error) === 'UnauthorizedError' ? signInRequired() : undefined
}

/** The names of the SDK's errors about authorization, and of ours. */
const REFUSALS = [
  'AuthorizationServerMismatchError',
  'InsecureTokenEndpointError',
  'InsufficientScopeError',
  'IssuerMismatchError',
  'OAuthError',
  'RegistrationRejectedError',
  'OAuthAnswerError',
  'OAuthUnreachableError',
]

/** Whether an error came up while the client asked for a token: the server had refused the request itself. */
export const isRefusal = (error: unknown): boolean =>
  isBobbinError(error, 'E_MCP_SIGN_IN_FAILED') || REFUSALS.includes(nameOf(error))

/** What an error of a sign-in says in our words: those of others may quote a token or a stranger. */
export function refusalText(error: unknown): string {
  if (isBobbinError(error, 'E_MCP_SIGN_IN_FAILED')) return error.data.reason
  switch (nameOf(error)) {
    case 'OAuthError':
      return `the authorization server answers \`${errorCode(error)}\``
    case 'IssuerMismatchError':
    case 'AuthorizationServerMismatchError':
      return 'the answer comes from another authorization server than the one that was asked'
    case 'InsecureTokenEndpointError':
      return 'the authorization server wants the code over plain `http`'
    case 'OAuthAnswerError':
      return (error as Error).message
    case 'OAuthUnreachableError':
      return 'the authorization server cannot be reached'
    default:
      return 'the answer of the authorization server cannot be used'
  }
}

/** An error code of OAuth; anything else counts as none. */
export const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : undefined

const errorCode = (error: unknown): string => codeIn((error as { code?: unknown }).code) ?? 'error'

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '')
