/** The step of the schema that brings standing approvals. */
export const GRANTS_STEP = `
  CREATE TABLE bobbin_grants (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL REFERENCES bobbin_conversations (ref) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    tool TEXT NOT NULL,
    shape TEXT NOT NULL,
    pattern TEXT NOT NULL,
    state TEXT NOT NULL,
    expires_at INTEGER,
    digest TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX bobbin_grants_conversation ON bobbin_grants (conversation);
  CREATE INDEX bobbin_grants_scope ON bobbin_grants (scope, position);
  CREATE INDEX bobbin_grants_live ON bobbin_grants (scope, tool, shape, pattern)
    WHERE state = 'live';
`
