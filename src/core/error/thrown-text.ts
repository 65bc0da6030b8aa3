/** What a thrown value says. Never throws, whatever was thrown: also what cannot be read or has no text. */
export function thrownText(thrown: unknown): string {
  try {
    const { message } = Object(thrown) as { readonly message?: unknown }
    // Errors of other realms are known by their message alone.
    const says = typeof message === 'string' ? message !== '' : thrown instanceof Error
    return String(says ? message : thrown)
  } catch {
    return 'a value that cannot be shown as text was thrown'
  }
}
