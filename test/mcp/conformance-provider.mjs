// How the client of the conformance suite gets its tokens: by a sign-in, or by a provider of the SDK where no person is asked.
import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  DpopSession,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client'
import { mcpOAuth } from 'bobbin-adk/mcp'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/**
 * The provider that fits a scenario.
 *
 * @param {string} scenario
 * @param {string} url
 * @param {any} context what the suite tells: ids, secrets and keys
 */
export async function authProviderFor(scenario, url, context) {
  const { client_id: clientId, client_secret: clientSecret } = context
  switch (scenario) {
    case 'auth/client-credentials-basic':
      return new ClientCredentialsProvider({ clientId, clientSecret })
    case 'auth/client-credentials-jwt':
      return new PrivateKeyJwtProvider({
        clientId,
        privateKey: context.private_key_pem,
        algorithm: context.signing_algorithm,
      })
    case 'auth/enterprise-managed-authorization':
      return new CrossAppAccessProvider({
        clientId,
        clientSecret,
        assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
          const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
            tokenEndpoint: context.idp_token_endpoint,
            audience: authorizationServerUrl,
            resource: resourceUrl,
            idToken: context.idp_id_token,
            clientId: context.idp_client_id,
            fetchFn,
            ...(scope !== undefined && { scope }),
          })
          return jwtAuthGrant
        },
      })
    case 'auth/wif-jwt-bearer':
      return workload(clientId, context.valid_jwt)
    default:
      return person(scenario, url, context)
  }
}

/**
 * A person who signs in.
 *
 * @param {string} scenario
 * @param {string} url
 * @param {any} context
 */
async function person(scenario, url, { client_id: id, client_secret: secret, issuer }) {
  const session = scenario.startsWith('auth/dpop') ? await DpopSession.create() : undefined
  return mcpOAuth({
    url,
    redirectUrl: 'http://localhost:3000/callback',
    storage: new Map(),
    clientName: 'conformance',
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(id !== undefined && { client: { id, secret, issuer } }),
    ...(session && { dpop: () => session }),
  })
}

/**
 * A workload whose platform has given it a token, which the SDK takes to the authorization server.
 *
 * @param {string} clientId
 * @param {string} assertion
 * @returns {import('@modelcontextprotocol/client').OAuthClientProvider}
 */
function workload(clientId, assertion) {
  /** @type {import('@modelcontextprotocol/client').StoredOAuthTokens | undefined} */
  let tokens
  const never = () => {
    throw new Error('No person is asked.')
  }
  return {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], token_endpoint_auth_method: 'none' },
    clientInformation: () => ({ client_id: clientId }),
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given
    },
    prepareTokenRequest: (scope) =>
      new URLSearchParams({ grant_type: JWT_BEARER, assertion, ...(scope && { scope }) }),
    redirectToAuthorization: never,
    saveCodeVerifier: never,
    codeVerifier: never,
  }
}
