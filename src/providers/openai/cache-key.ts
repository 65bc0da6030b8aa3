import type { BodyInput } from '../../model/provider-definition.ts'

/**
 * The member that brings the requests of one conversation to the server that has its prefix cached. Servers that do not
 * know it may refuse the request, so only those get it that are known to take it.
 */
export function cacheKeyMember(
  { cache, cacheKey }: Pick<BodyInput, 'cache' | 'cacheKey'>,
  isKnown: boolean,
): { readonly prompt_cache_key?: string } {
  return cacheKey !== undefined && (cache ?? isKnown) ? { prompt_cache_key: cacheKey } : {}
}
