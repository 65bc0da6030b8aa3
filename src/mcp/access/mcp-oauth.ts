import type {
  DpopSession,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { bytesToBase64 } from '../../core/base64.ts'
import { wrongInput } from '../../core/error/wrong-input.ts'
import { toHex } from '../../core/hex.ts'
import {
  hasMethods,
  isFunction,
  type OptionTable,
  type OptionValues,
  option,
  optionOr,
  readOptions,
} from '../../core/options.ts'
import { pageUrl } from '../../core/page-url.ts'
import { finishSignIn } from './finish-sign-in.ts'
import { hasUser, requireReachable } from './oauth-fetch.ts'
import { KeptValues, MAX_OPEN, type McpOAuthStorage, OpenSignIns } from './open-sign-ins.ts'
import { refusalText, signInFailed, signInRequired } from './sign-in.ts'

/** A client that you registered with an authorization server yourself. */
export interface McpOAuthClient {
  readonly id: string
  readonly secret?: string
  /** The authorization server that it is registered with: no other gets the secret, whatever the MCP server says. */
  readonly issuer: string
}

/** How a person signs in to an MCP server. */
export interface McpOAuthOptions {
  /** The MCP server, as in `mcpClient({ url })`. */
  readonly url: string
  /** Your page to which the authorization server sends the person back. It calls `finish`. */
  readonly redirectUrl: string
  /** Where the tokens of this person are kept. Each person has a storage, or keys, of their own. */
  readonly storage: McpOAuthStorage
  /** The name of your application on the page of the authorization server. */
  readonly clientName?: string
  /** What to ask for if the server does not say: scopes with spaces between them. */
  readonly scope?: string
  /** The client that you registered. Without it, the client registers itself. */
  readonly client?: McpOAuthClient
  /** Where your client describes itself, for authorization servers that take the address as the client's id. */
  readonly clientMetadataUrl?: string
  /** Gives the key to which tokens are bound, a `DpopSession` of the SDK. It is the same on each call. */
  readonly dpop?: () => DpopSession | Promise<DpopSession>
}

/** The provider for `mcpClient(server, { authProvider })`, with the end of a sign-in. */
export interface McpOAuth extends OAuthClientProvider {
  /** Ends a sign-in with the URL under which the person came back. The token is in the storage then. */
  finish(callback: string | URL): Promise<void>
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const isWebAddress = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

const isStorage = hasMethods('get', 'set', 'delete')

const isRegistered = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false
  const { id, secret = 'none', issuer, ...others } = value as Record<string, unknown>
  return isText(id) && isText(secret) && isWebAddress(issuer) && Object.keys(others).length === 0
}

const isClientAddress = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'https:'

const OPTIONS = {
  url: option<string>(isWebAddress, 'must be the URL of the MCP server'),
  redirectUrl: option<string>(
    (value) => pageUrl(value) !== undefined,
    'must be an `https` URL of yours, or `http` to this machine',
  ),
  storage: option<McpOAuthStorage>(
    isStorage,
    'must have `get`, `set` and `delete`, as a `Map` has',
  ),
  clientName: optionOr('Bobbin', isText, 'must be a text'),
  scope: option<string>(isText, 'must be a text of scopes with spaces between them'),
  client: option<McpOAuthClient>(isRegistered, 'must be `{ id, secret, issuer }`'),
  clientMetadataUrl: option<string>(isClientAddress, 'must be an `https` URL'),
  dpop: option<() => DpopSession | Promise<DpopSession>>(
    isFunction,
    'must be a function that gives a `DpopSession`',
  ),
} satisfies OptionTable<McpOAuthOptions>

/** The largest description of an authorization server that is kept. */
const MAX_DISCOVERY = 64 * 1024

/** The servers that providers were made for. */
const servers = new WeakMap<object, string>()

/** The server that a provider of `mcpOAuth` was made for: its token must go to no other. */
export const serverOf = (provider: object): string | undefined => servers.get(provider)

/**
 * Signs a person in to an MCP server over OAuth. Tokens are in the storage that you give; when the server wants a person,
 * a call of a tool becomes a gate of kind `link`, and opening the tools fails with `E_MCP_SIGN_IN`.
 */
export function mcpOAuth(options: McpOAuthOptions): McpOAuth {
  const settings = readOptions({ of: 'mcpOAuth', code: 'E_INVALID_INPUT' }, OPTIONS, options)
  for (const name of ['url', 'redirectUrl', 'storage'] as const) {
    if (settings[name] === undefined) throw wrongInput('mcpOAuth', name, 'must be given')
  }
  const { url = '', redirectUrl = '', storage = new Map<string, string>() } = settings
  const server = new URL(url)
  if (hasUser(server)) throw wrongInput('mcpOAuth', 'url', 'must have no user and password')
  const kept = new KeptValues(storage, server.href)
  const signIns = new OpenSignIns(kept)
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: metadataOf(settings, redirectUrl),
    ...(settings.clientMetadataUrl !== undefined && {
      clientMetadataUrl: settings.clientMetadataUrl,
    }),
    ...(settings.dpop && { dpop: settings.dpop }),
    ...clientOf(settings.client, kept),
    tokens: async () => (await kept.get('tokens')) as StoredOAuthTokens | undefined,
    saveTokens: (tokens) => kept.set('tokens', tokens),
    ...startOf(server, signIns),
    invalidateCredentials: async (what) => {
      for (const name of ['tokens', 'client'] as const) {
        if (what === name || what === 'all') await kept.delete(name)
      }
    },
  }
  const oauth = {
    ...provider,
    finish: async (callback: string | URL) => {
      const params = paramsOf(callback, redirectUrl)
      const signIn = await signIns.take(params.get('state') ?? '')
      if (signIn === undefined) {
        throw signInFailed('its `state` is unknown here: it was used before, or made by another')
      }
      await finishSignIn(provider, server, signIn, params)
    },
  }
  servers.set(oauth, server.href)
  return oauth
}

function metadataOf(
  { clientName, scope }: OptionValues<typeof OPTIONS>,
  redirectUrl: string,
): OAuthClientMetadata {
  return {
    client_name: clientName,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    ...(scope !== undefined && { scope }),
  }
}

/** Who the client is. One that you registered is bound to its issuer, and the SDK refuses any other. */
function clientOf(
  client: McpOAuthClient | undefined,
  kept: KeptValues,
): Pick<OAuthClientProvider, 'clientInformation' | 'saveClientInformation'> {
  if (client === undefined) {
    return {
      clientInformation: async () =>
        (await kept.get('client')) as StoredOAuthClientInformation | undefined,
      saveClientInformation: (information) => kept.set('client', information),
    }
  }
  const { id, secret, issuer } = client
  const known = { client_id: id, issuer, ...(secret !== undefined && { client_secret: secret }) }
  return { clientInformation: () => known }
}

/**
 * The start of a sign-in, up to the page of the authorization server. Several may start at once on one provider, so each
 * page is matched to its own verifier and authorization server.
 */
function startOf(server: URL, signIns: OpenSignIns) {
  const verifiers: string[] = []
  const discoveries: OAuthDiscoveryState[] = []
  return {
    state: () => toHex(globalThis.crypto.getRandomValues(new Uint8Array(32))),
    saveCodeVerifier: (verifier: string) => {
      verifiers.unshift(verifier)
      verifiers.length = Math.min(verifiers.length, MAX_OPEN)
    },
    codeVerifier: () => {
      throw signInFailed('a sign-in ends with `finish`')
    },
    saveDiscoveryState: (found: OAuthDiscoveryState) => {
      if (JSON.stringify(found).length > MAX_DISCOVERY) {
        throw signInFailed(`the authorization server describes itself at too great a length`)
      }
      discoveries.unshift(found)
      discoveries.length = Math.min(discoveries.length, MAX_OPEN)
    },
    // Asked anew each time, since a server may change its authorization server.
    discoveryState: () => undefined,
    redirectToAuthorization: async (page: URL) => {
      const url = pageFor(server, page)
      const { searchParams } = page
      const verifier = await verifierOf(searchParams.get('code_challenge'), verifiers)
      const discovery = discoveries.find((each) => endpointOf(each) === addressOf(page))
      const state = searchParams.get('state')
      if (verifier === undefined || discovery === undefined || state === null) {
        throw signInFailed('the page does not belong to a sign-in that was started here')
      }
      const scope = searchParams.get('scope')
      await signIns.add({ state, verifier, discovery, ...(scope !== null && { scope }) })
      // The SDK would throw an error that does not name the page.
      throw signInRequired(url)
    },
  }
}

/** The page as a person may be sent there. */
function pageFor(server: URL, page: URL): string {
  const url = pageUrl(page.href)
  try {
    requireReachable(server, page)
  } catch (error) {
    throw signInFailed(refusalText(error))
  }
  if (url !== undefined) return url
  throw signInFailed('the page for the sign-in must be `https`, and at most 8000 characters long')
}

async function verifierOf(
  challenge: string | null,
  verifiers: readonly string[],
): Promise<string | undefined> {
  for (const verifier of verifiers) {
    const bytes = await globalThis.crypto.subtle.digest(
      'SHA-256',
      new TextEncoder().encode(verifier),
    )
    const text = bytesToBase64(new Uint8Array(bytes))
    const made = text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    if (made === challenge) return verifier
  }
  return undefined
}

function endpointOf({ authorizationServerMetadata, authorizationServerUrl }: OAuthDiscoveryState) {
  const named = authorizationServerMetadata?.authorization_endpoint
  return addressOf(new URL(named ?? '/authorize', authorizationServerUrl))
}

const addressOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`

function paramsOf(callback: unknown, redirectUrl: string): URLSearchParams {
  const isAddress = (typeof callback === 'string' && callback !== '') || callback instanceof URL
  const text = isAddress ? String(callback) : ''
  if (text === '' || !URL.canParse(text, redirectUrl)) {
    throw wrongInput('finish', 'callback', 'must be the URL under which the person came back')
  }
  return new URL(text, redirectUrl).searchParams
}
