/** Whether a base URL is at one of these domains, subdomains included. */
export function isAt(baseURL: string | undefined, ...domains: readonly string[]): boolean {
  if (baseURL === undefined || !URL.canParse(baseURL)) return false
  const { hostname } = new URL(baseURL)
  return domains.some((domain) => `.${hostname}`.endsWith(`.${domain}`))
}
