import { openDatabase } from './open-database.ts'
import { holdsConversations, holdsNothing } from './schema.ts'
import { asStoreError } from './sqlite-errors.ts'

/**
 * Whether an existing database is a store, without changing it; a file that is no database is an error. One
 * that holds nothing is a store whose first write failed, on a full disk for instance.
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
