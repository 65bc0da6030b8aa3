import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import { loadClient } from './load-client.ts'
import { oauthFetch } from './oauth-fetch.ts'
import type { OpenSignIn } from './open-sign-ins.ts'
import { codeIn, refusalText, signInFailed } from './sign-in.ts'

/** Longer codes than this are refused before anything is sent. */
const MAX_CODE = 8_000

/** Exchanges the code of a callback for tokens, at the authorization server to which the person was sent. */
export async function finishSignIn(
  provider: OAuthClientProvider,
  server: URL,
  { verifier, discovery, scope }: OpenSignIn,
  params: URLSearchParams,
): Promise<void> {
  const sdk = await loadClient()
  const iss = params.get('iss') ?? undefined
  const code = params.get('code')
  if (code === null) {
    const metadata = discovery.authorizationServerMetadata
    const isSupported = metadata?.authorization_response_iss_parameter_supported === true
    try {
      // Anyone can call the callback and say that the person refused: check the issuer first.
      sdk.validateAuthorizationResponseIssuer({
        iss,
        expectedIssuer: metadata?.issuer,
        issParameterSupported: isSupported,
      })
    } catch (error) {
      throw signInFailed(refusalText(error))
    }
    const error = codeIn(params.get('error'))
    throw signInFailed(
      error === undefined
        ? 'the callback has no code'
        : `the authorization server says \`${error}\``,
    )
  }
  if (code.length > MAX_CODE) throw signInFailed('the code in the callback is too long')
  const callback: OAuthClientProvider = {
    ...provider,
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: () => undefined,
    // A server that leaves the scope out has granted what was asked for.
    saveTokens: (tokens) =>
      provider.saveTokens({ ...(scope !== undefined && { scope }), ...tokens }),
  }
  const fetchFn = oauthFetch(server, {}, globalThis.fetch)
  try {
    await sdk.auth(callback, {
      serverUrl: server,
      authorizationCode: code,
      fetchFn,
      ...(iss !== undefined && { iss }),
    })
  } catch (error) {
    throw signInFailed(refusalText(error))
  }
}
