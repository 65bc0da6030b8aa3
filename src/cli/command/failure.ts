import { isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { EXIT } from '../terminal/io.ts'

/** The message for a failure, and the exit code of the process. */
export interface Failure {
  readonly message: string
  readonly code: string
  readonly exitCode: number
}

const WAYS_OUT: Readonly<Record<string, string>> = {
  ENOENT: 'It does not exist: check the path.',
  EACCES: 'Permission denied: check who owns it, or choose another place with --store.',
  EPERM: 'Permission denied: check who owns it, or choose another place with --store.',
  EROFS: 'The file system is read-only: choose another place with --store.',
  ENOSPC: 'The disk is full: free some space and run the command again; nothing was lost.',
  EDQUOT: 'The disk quota is used up: free some space and run the command again.',
  EISDIR: 'It is a folder: name a file.',
  EEXIST: 'A file is in the way of a folder: choose another path.',
  EFBIG:
    'The file would grow beyond what is allowed: free some space or raise the limit; nothing was lost.',
  ENOTDIR: 'A part of the path is a file: check the path.',
  EMFILE: 'Too many files are open: close some, or raise `ulimit -n`.',
}

const USAGE_CODES = new Set(['E_USAGE', 'ENOENT', 'EISDIR', 'ENOTDIR', 'EEXIST'])

const INTERRUPTED = 'INTERRUPTED'

/** The end of an interrupted command that keeps no records. */
export const interrupted = (): Error =>
  Object.assign(new Error('Interrupted.'), { code: INTERRUPTED })

/** Any error as one sentence with its way out; never a stack. */
export function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) {
    const kept =
      codeOf(error) === INTERRUPTED ? '' : ' Settled calls are stored; the store is intact.'
    return { message: `Interrupted.${kept}`, code: INTERRUPTED, exitCode: EXIT.interrupted }
  }
  const code = codeOf(error)
  const sentence = sentenceOf(error, code)
  return {
    // Names that a message quotes may hold line ends, which would pass for lines of ours.
    message: code === 'E_USAGE' ? sentence : sentence.replaceAll(/\s*\n\s*/g, ' '),
    code,
    exitCode: USAGE_CODES.has(code) ? EXIT.usage : EXIT.failed,
  }
}

function codeOf(error: unknown): string {
  if (isBobbinError(error)) return error.code
  const code = (error as { readonly code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'UNEXPECTED'
}

/** The message for a conversation that another process holds. */
export function heldText(conversation: string, expiresAt: number): string {
  const until = new Date(expiresAt).toISOString().slice(11, 19)
  return `\`${conversation}\` is in use by another process until ${until} UTC: wait for it, or run \`bobbin recover --force\` if that process is dead.`
}

function sentenceOf(error: unknown, code: string): string {
  if (isBobbinError(error, 'E_STORE_UNAVAILABLE')) {
    const { detail } = error.data
    return `${error.message} It said: ${detail.split('\n')[0]}. ${storeWayOut(error)}`.trimEnd()
  }
  if (isBobbinError(error, 'E_CONVERSATION_BUSY')) {
    const { conversation, expiresAt } = error.data
    return heldText(conversation, expiresAt)
  }
  if (isBobbinError(error, 'E_INVALID_IMPORT')) {
    return `${error.message} Nothing was imported; give it a file that \`bobbin export\` wrote.`
  }
  if (isBobbinError(error)) return error.message
  const said = thrownText(error)
  const wayOut = WAYS_OUT[code]
  const path = (error as { readonly path?: unknown } | null)?.path
  if (wayOut !== undefined) return typeof path === 'string' ? `\`${path}\`: ${wayOut}` : wayOut
  return said.split('\n')[0] ?? said
}

const OTHER_MODEL = 'choose another with --model, or use none with --offline.'
const PROVIDER_WAYS_OUT: Readonly<Record<string, string>> = {
  E_PROVIDER_AUTH: `Check the provider’s key in your environment, ${OTHER_MODEL}`,
  E_PROVIDER_NOT_FOUND: 'Check the name in --model and the address in --base-url.',
  E_PROVIDER_UNREACHABLE: `Check the network and the address in --base-url, ${OTHER_MODEL}`,
  E_PROVIDER_RATE_LIMITED: `Wait and ask again, ${OTHER_MODEL}`,
  E_PROVIDER_UNAVAILABLE: `Wait and ask again, ${OTHER_MODEL}`,
}

/** How to fix the error that ended a turn, if the user can. */
export function wayOutOf(error: unknown): string | undefined {
  if (isBobbinError(error, 'E_STORE_UNAVAILABLE')) return storeWayOut(error)
  const code = codeOf(error)
  return PROVIDER_WAYS_OUT[code] ?? WAYS_OUT[code]
}

/** What a user of the command line can do about an error of the store. */
function storeWayOut(error: { readonly data: { readonly reason: string } }): string {
  const { reason } = error.data
  if (reason === 'read-only' || reason === 'cannot-open') {
    return 'Choose a place that can be written with --store PATH.'
  }
  return reason === 'other' ? 'Try again; `bobbin verify` checks the store.' : ''
}
