import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * Loads a module of the user's by its URL, or a provider's client by its name: with the function below, the one place
 * where a name is not known beforehand.
 */
export async function importFile(url: string): Promise<Record<string, unknown>> {
  return (await import(url)) as Record<string, unknown>
}

/** Loads an entry of this package by its public name. */
export async function importEntry(name: string): Promise<Record<string, unknown>> {
  const path = createRequire(import.meta.url).resolve(name)
  return importFile(pathToFileURL(path).href)
}
