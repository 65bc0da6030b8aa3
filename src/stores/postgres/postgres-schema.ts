import { BobbinError } from '../../core/error/error.ts'
import { grantsStep } from './grants-step.ts'
import type { Queries } from './postgres-queries.ts'
import type { Tables } from './postgres-tables.ts'

/** Step n turns a schema of version n into one of version n + 1. Steps are never changed, only added. */
const MIGRATIONS: readonly ((tables: Tables) => string)[] = [
  ({ conversations, entries, gates, references, blobs }) => `
    CREATE TABLE ${conversations} (
      ref bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id text COLLATE "C" NOT NULL UNIQUE,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      epoch bigint NOT NULL,
      owner text NOT NULL,
      lease_until bigint NOT NULL,
      length bigint NOT NULL,
      sealed_seq bigint NOT NULL,
      seal text NOT NULL,
      key bytea,
      key_check text NOT NULL
    );

    CREATE TABLE ${entries} (
      position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      seq bigint NOT NULL,
      kind text NOT NULL,
      turn text COLLATE "C" NOT NULL,
      id text COLLATE "C",
      tool text COLLATE "C",
      checksum text COLLATE "C",
      settlement text,
      time bigint NOT NULL,
      digest text NOT NULL,
      seal text,
      body text NOT NULL
    );
    CREATE UNIQUE INDEX bobbin_entries_seq ON ${entries} (conversation, seq);
    CREATE UNIQUE INDEX bobbin_entries_id ON ${entries} (conversation, kind, id) WHERE id IS NOT NULL;
    CREATE INDEX bobbin_entries_turn ON ${entries} (conversation, turn, seq);
    CREATE INDEX bobbin_entries_checksum ON ${entries} (checksum, conversation, seq, kind)
      WHERE checksum IS NOT NULL;
    CREATE INDEX bobbin_entries_tool ON ${entries} (tool, position) WHERE tool IS NOT NULL;
    CREATE INDEX bobbin_entries_settlement ON ${entries} (settlement) WHERE settlement <> 'ok';

    CREATE TABLE ${gates} (
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      id text COLLATE "C" NOT NULL,
      state text NOT NULL,
      digest text NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (conversation, id)
    );
    CREATE INDEX bobbin_gates_open ON ${gates} (conversation)
      WHERE state NOT IN ('consumed', 'expired', 'abandoned');

    CREATE TABLE ${references} (
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      digest text COLLATE "C" NOT NULL,
      PRIMARY KEY (digest, conversation)
    );
    CREATE INDEX bobbin_references_conversation ON ${references} (conversation, digest);

    CREATE TABLE ${blobs} (
      digest text COLLATE "C" PRIMARY KEY,
      bytes bytea NOT NULL
    );
  `,
  // Who reads a conversation from another process, what its holder is asked for, and what streams on its way there.
  ({ conversations, followers, stops, queue, deltas }) => `
    CREATE TABLE ${followers} (
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      id text COLLATE "C" NOT NULL,
      until bigint NOT NULL,
      PRIMARY KEY (conversation, id)
    );
    CREATE TABLE ${stops} (
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      turn text COLLATE "C" NOT NULL,
      PRIMARY KEY (conversation, turn)
    );
    CREATE TABLE ${queue} (
      position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      turn text COLLATE "C" NOT NULL,
      mode text NOT NULL,
      body text NOT NULL,
      until bigint NOT NULL,
      UNIQUE (conversation, turn)
    );
    CREATE UNLOGGED TABLE ${deltas} (
      n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      epoch bigint NOT NULL,
      body text NOT NULL
    );
    CREATE INDEX bobbin_deltas_conversation ON ${deltas} (conversation, n);
  `,
  // Larger bytes, in blocks. A spool without a digest is still being written.
  ({ spools, spoolBlocks }) => `
    CREATE TABLE ${spools} (
      id text COLLATE "C" PRIMARY KEY,
      tenant text COLLATE "C" NOT NULL,
      digest text COLLATE "C",
      byte_length bigint NOT NULL,
      lines bytea,
      written_at bigint NOT NULL
    );
    CREATE UNIQUE INDEX bobbin_spools_digest ON ${spools} (tenant, digest)
      WHERE digest IS NOT NULL;
    CREATE TABLE ${spoolBlocks} (
      spool text COLLATE "C" NOT NULL REFERENCES ${spools} (id) ON DELETE CASCADE,
      number bigint NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (spool, number)
    );
  `,
  // What the application says about a conversation, whole and by member, and in whose call its first turn ran. A name
  // with a quote or a backslash is not found in older entries: damaged text must not stop the migration, as it would as JSON.
  ({ conversations, entries, meta }) => `
    ALTER TABLE ${conversations} ADD COLUMN meta text NOT NULL DEFAULT '{}';
    ALTER TABLE ${conversations} ADD COLUMN parent text COLLATE "C";
    CREATE TABLE ${meta} (
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      name text COLLATE "C" NOT NULL,
      value text COLLATE "C" NOT NULL,
      PRIMARY KEY (conversation, name)
    );
    CREATE INDEX bobbin_meta_value ON ${meta} (name, value, conversation);
    UPDATE ${conversations} c
      SET parent = substring(e.body from '"parent":[{]"conversation":"([^"\\\\]*)"')
      FROM ${entries} e
      WHERE e.conversation = c.ref AND e.seq = 1 AND e.kind = 'turn-start' AND strpos(c.id, '/') > 0;
    UPDATE ${conversations} SET parent = NULL WHERE NOT starts_with(id, parent || '/');
  `,
  // Forks: the key of their envelopes, where they come from, and the conversations inside calls that they have in common.
  ({ conversations, inherited }) => `
    ALTER TABLE ${conversations} ADD COLUMN envelope bytea;
    ALTER TABLE ${conversations} ADD COLUMN origin text;
    CREATE TABLE ${inherited} (
      conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
      nested text COLLATE "C" NOT NULL,
      PRIMARY KEY (conversation, nested)
    );
    CREATE INDEX bobbin_inherited_nested ON ${inherited} (nested);
  `,
  grantsStep,
  // An index of the rare kinds of entries: a turn reads the log from the last summary on.
  ({ entries }) => `
    CREATE INDEX bobbin_entries_rare ON ${entries} (conversation, kind, seq)
      WHERE kind IN ('summary', 'rewind');
  `,
  // Which of several agents is active.
  ({ conversations }) => `ALTER TABLE ${conversations} ADD COLUMN agent text;`,
]

/** Any number that everybody who migrates agrees on: one at a time. */
const MIGRATION_LOCK = 0x62_6f_62

/** Brings a schema to the current version; one from a newer package is refused untouched. */
export async function migrate(
  transaction: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>,
  tables: Tables,
): Promise<void> {
  await transaction(async (queries) => {
    await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)', [MIGRATION_LOCK])
    const version = await versionOf(queries, tables)
    if (version > MIGRATIONS.length) throw tooNew(version)
    if (version === MIGRATIONS.length) return
    if (version === 0) {
      await queries.script(`
        CREATE SCHEMA IF NOT EXISTS "${tables.schema}";
        CREATE TABLE ${tables.version} (version integer NOT NULL);
        INSERT INTO ${tables.version} VALUES (0);
      `)
    }
    for (const step of MIGRATIONS.slice(version)) await queries.script(step(tables))
    await queries.rows(`UPDATE ${tables.version} SET version = $1`, [MIGRATIONS.length])
  })
}

async function versionOf(queries: Queries, tables: Tables): Promise<number> {
  const [found] = await queries.rows('SELECT to_regclass($1)::text AS name', [tables.version])
  if ((found?.['name'] ?? null) === null) return 0
  const [row] = await queries.rows(`SELECT max(version) AS version FROM ${tables.version}`, [])
  return Number(row?.['version'] ?? 0)
}

function tooNew(found: number): BobbinError<'E_STORE_TOO_NEW'> {
  const supported = MIGRATIONS.length
  const message =
    `The database has schema version ${found}, and this package knows versions up to ${supported}: ` +
    'upgrade the package. Nothing was changed.'
  return new BobbinError('E_STORE_TOO_NEW', message, { found, supported })
}
