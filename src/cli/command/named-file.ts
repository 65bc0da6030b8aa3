import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { usageError } from './usage-error.ts'

/** Reads a text file that the command line names. */
export async function readNamedFile(cwd: string, path: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, path), 'utf8')
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code === 'ENOENT') throw usageError(`The file \`${path}\` does not exist: check the path.`)
    if (code === 'EISDIR') throw usageError(`\`${path}\` is a folder: name a file.`)
    throw error
  }
}
