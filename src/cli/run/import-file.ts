/** Loads a module of the user's by its URL, or a provider's client by its name: the one place where a name is not known beforehand. */
export async function importFile(url: string): Promise<Record<string, unknown>> {
  return (await import(url)) as Record<string, unknown>
}
