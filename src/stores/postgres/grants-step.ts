import type { Tables } from './postgres-tables.ts'

/** The step of the schema that brings standing approvals. */
export const grantsStep = ({ conversations, grants }: Tables) => `
  CREATE TABLE ${grants} (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    conversation bigint NOT NULL REFERENCES ${conversations} (ref) ON DELETE CASCADE,
    scope text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL,
    shape text COLLATE "C" NOT NULL,
    pattern text COLLATE "C" NOT NULL,
    state text NOT NULL,
    expires_at bigint,
    digest text NOT NULL,
    body text NOT NULL
  );
  CREATE INDEX bobbin_grants_conversation ON ${grants} (conversation);
  CREATE INDEX bobbin_grants_scope ON ${grants} (scope, position);
  CREATE INDEX bobbin_grants_live ON ${grants} (scope, tool, shape, pattern) WHERE state = 'live';
`
