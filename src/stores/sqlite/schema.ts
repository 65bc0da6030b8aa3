import { BobbinError } from '../../core/error/error.ts'
import { GRANTS_STEP } from './grants-step.ts'
import type { Sqlite } from './sqlite-database.ts'

/** Step n turns a database of version n into one of version n + 1. Steps are never changed, only added. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE bobbin_conversations (
    ref INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    owner TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    length INTEGER NOT NULL,
    sealed_seq INTEGER NOT NULL,
    seal TEXT NOT NULL,
    key BLOB,
    key_check TEXT NOT NULL
  ) STRICT;

  CREATE TABLE bobbin_entries (
    position INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    turn TEXT NOT NULL,
    id TEXT,
    tool TEXT,
    checksum TEXT,
    settlement TEXT,
    time INTEGER NOT NULL,
    digest TEXT NOT NULL,
    seal TEXT,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX bobbin_entries_seq ON bobbin_entries (conversation, seq);
  CREATE UNIQUE INDEX bobbin_entries_id ON bobbin_entries (conversation, kind, id)
    WHERE id IS NOT NULL;
  CREATE INDEX bobbin_entries_turn ON bobbin_entries (conversation, turn, seq);
  CREATE INDEX bobbin_entries_checksum ON bobbin_entries (checksum, conversation, seq, kind)
    WHERE checksum IS NOT NULL;
  CREATE INDEX bobbin_entries_tool ON bobbin_entries (tool) WHERE tool IS NOT NULL;
  CREATE INDEX bobbin_entries_settlement ON bobbin_entries (settlement)
    WHERE settlement <> 'ok';

  CREATE TABLE bobbin_gates (
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    digest TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX bobbin_gates_open ON bobbin_gates (conversation)
    WHERE state NOT IN ('consumed', 'expired', 'abandoned');

  CREATE TABLE bobbin_references (
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    PRIMARY KEY (digest, conversation)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX bobbin_references_conversation ON bobbin_references (conversation, digest);

  CREATE TABLE bobbin_blobs (
    digest TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
  ) STRICT;
  `,
  // The highest position that deleted entries had: SQLite would give it again, behind pages already read.
  `
  CREATE TABLE bobbin_positions (used INTEGER NOT NULL) STRICT;
  INSERT INTO bobbin_positions VALUES (0);
  `,
  // Who reads a conversation from another process, and what its holder is asked for.
  `
  CREATE TABLE bobbin_followers (
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    id TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (conversation, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE bobbin_stops (
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    turn TEXT NOT NULL,
    PRIMARY KEY (conversation, turn)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE bobbin_queue (
    position INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    turn TEXT NOT NULL,
    mode TEXT NOT NULL,
    body TEXT NOT NULL,
    until INTEGER NOT NULL,
    UNIQUE (conversation, turn)
  ) STRICT;
  `,
  // What the application says about a conversation, whole and by member, and in whose call its first turn ran.
  `
  ALTER TABLE bobbin_conversations ADD COLUMN meta TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE bobbin_conversations ADD COLUMN parent TEXT;
  CREATE TABLE bobbin_meta (
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (conversation, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX bobbin_meta_value ON bobbin_meta (name, value, conversation);
  UPDATE bobbin_conversations SET parent = (
    SELECT json_extract(e.body, '$.data.parent.conversation') FROM bobbin_entries e
    WHERE e.conversation = ref AND e.seq = 1 AND e.kind = 'turn-start' AND json_valid(e.body)
  ) WHERE instr(id, '/') > 0;
  UPDATE bobbin_conversations SET parent = NULL
    WHERE substr(id, 1, length(parent) + 1) <> parent || '/';
  `,
  // Searches: their indexes follow the log in batches, up to `bobbin_positions.indexed`. Entries from before this step are in them already.
  `
  ALTER TABLE bobbin_entries ADD COLUMN indexed INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE bobbin_positions ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
  UPDATE bobbin_positions SET indexed = (SELECT coalesce(max(position), 0) FROM bobbin_entries);
  DROP INDEX bobbin_entries_turn;
  DROP INDEX bobbin_entries_checksum;
  DROP INDEX bobbin_entries_tool;
  DROP INDEX bobbin_entries_settlement;
  CREATE INDEX bobbin_entries_turn ON bobbin_entries (conversation, turn, seq) WHERE indexed = 1;
  CREATE INDEX bobbin_entries_checksum ON bobbin_entries (checksum, conversation, seq, kind)
    WHERE indexed = 1 AND checksum IS NOT NULL;
  CREATE INDEX bobbin_entries_tool ON bobbin_entries (tool) WHERE indexed = 1 AND tool IS NOT NULL;
  CREATE INDEX bobbin_entries_settlement ON bobbin_entries (settlement)
    WHERE indexed = 1 AND settlement <> 'ok';
  `,
  // Forks: the key of their envelopes, where they come from, and the conversations inside calls that they have in common.
  `
  ALTER TABLE bobbin_conversations ADD COLUMN envelope BLOB;
  ALTER TABLE bobbin_conversations ADD COLUMN origin TEXT;
  CREATE TABLE bobbin_inherited (
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    nested TEXT NOT NULL,
    PRIMARY KEY (conversation, nested)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX bobbin_inherited_nested ON bobbin_inherited (nested);
  `,
  GRANTS_STEP,
  // An index of the rare kinds of entries: a turn reads the log from the last summary on.
  `
  CREATE INDEX bobbin_entries_rare ON bobbin_entries (conversation, kind, seq)
    WHERE kind IN ('summary', 'rewind');
  `,
  // Which of several agents is active.
  'ALTER TABLE bobbin_conversations ADD COLUMN agent TEXT;',
]

/** Brings a database to the current version; one from a newer package is refused untouched. */
export function migrate(sqlite: Sqlite, migrations = MIGRATIONS): void {
  if (versionOf(sqlite) === migrations.length) return
  sqlite.exec('BEGIN IMMEDIATE')
  try {
    // Read again: another process may have migrated while this one waited.
    sqlite.exec('CREATE TABLE IF NOT EXISTS bobbin_schema (version INTEGER NOT NULL) STRICT')
    const version = versionOf(sqlite)
    if (version > migrations.length) throw tooNew(version, migrations.length)
    for (const step of migrations.slice(version)) sqlite.exec(step)
    sqlite.exec(
      `DELETE FROM bobbin_schema; INSERT INTO bobbin_schema VALUES (${migrations.length})`,
    )
    sqlite.exec('COMMIT')
  } catch (error) {
    try {
      sqlite.exec('ROLLBACK')
    } catch {
      // SQLite rolls back by itself after some errors.
    }
    throw error
  }
}

/** Whether the database has the tables of a store. */
export function holdsConversations(sqlite: Sqlite): boolean {
  const named = "SELECT count(*) AS n FROM sqlite_master WHERE name = 'bobbin_schema'"
  return Number(sqlite.get(named)?.['n']) > 0
}

/** Whether a database has no tables at all. */
export function holdsNothing(sqlite: Sqlite): boolean {
  return Number(sqlite.get('SELECT count(*) AS n FROM sqlite_master')?.['n']) === 0
}

function versionOf(sqlite: Sqlite): number {
  if (!holdsConversations(sqlite)) return 0
  const row = sqlite.get('SELECT max(version) AS version FROM bobbin_schema')
  return Number(row?.['version'] ?? 0)
}

function tooNew(found: number, supported: number): BobbinError<'E_STORE_TOO_NEW'> {
  const message =
    `The database has schema version ${found}, and this package knows versions up to ${supported}: ` +
    'upgrade the package. Nothing was changed.'
  return new BobbinError('E_STORE_TOO_NEW', message, { found, supported })
}
