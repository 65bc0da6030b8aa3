import { openDatabase } from './open-database.ts'
import { holdsConversations, holdsNothing } from './schema.ts'
import { asStoreError } from './sqlite-errors.ts'

/**
 * Whether an existing database is a store. The file is not changed; another kind of file is an error. An empty
 * database counts as a store: its first write failed, for example on a full disk.
 */
export async function isStoreFile(path: string): Promise<boolean> {
  const sqlite = await openDatabase(path)
  try {
    sqlite.exec('PRAGMA busy_timeout = 5000')
    return holdsConversations(sqlite) || holdsNothing(sqlite)
  } catch (error) {
    throw asStoreError(error, `read \`${path}\``)
  } finally {
    sqlite.close()
  }
}
