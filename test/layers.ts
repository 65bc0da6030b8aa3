/**
 * The layer table. A folder of `src/` imports from itself and from the rows above it, type imports
 * included; folders on one row do not import each other. Changing it is a commit of its own.
 */
export interface LayerTable {
  /** From the bottom up. */
  readonly rows: readonly (readonly string[])[]
  /** Folders that import any row but not each other; `x/*` makes every folder in `x` a leaf. */
  readonly leaves: readonly string[]
  /** Which leaf may import which other leaves. */
  readonly leafImports: Readonly<Record<string, readonly string[]>>
  /**
   * The folders inside a folder, from the bottom up: each imports from itself and from those before it. `.` stands for
   * the files directly in the folder, except for its `index.ts`, which may import them all.
   */
  readonly rooms: Readonly<Record<string, readonly string[]>>
}

export const layers: LayerTable = {
  rows: [
    ['core'],
    ['text'],
    ['spool'],
    ['tools'],
    ['artifacts'],
    ['records'],
    ['model', 'store'],
    ['prompt'],
    ['turn'],
  ],
  leaves: [
    'providers/*',
    'provider',
    'wire',
    'stores/*',
    'ui',
    'restate',
    'mcp',
    'otel',
    'testing',
    'cli',
  ],
  leafImports: {
    'providers/foundry': ['providers/openai'],
    // The rules for Claude's thinking are the same on Bedrock.
    'providers/bedrock': ['providers/anthropic'],
    // A SQLite store brings the file spool that lies beside its database.
    'stores/sqlite': ['stores/fs', 'stores/sql'],
    'stores/postgres': ['stores/sql'],
    // The quota and the cache of blocks are the same.
    'stores/s3': ['stores/fs'],
    wire: ['providers/*'],
    testing: ['*'],
    cli: ['*'],
  },
  rooms: {
    core: ['error', 'json', '.'],
    spool: ['scan', '.', 'search'],
    artifacts: ['query', 'json', 'markdown', 'table', '.'],
    model: ['events', 'wire', '.'],
    store: ['.', 'rows', 'archive', 'audit', 'core', 'memory', 'feed'],
    turn: [
      'limits',
      'log',
      'events',
      'request',
      'compact',
      'executor',
      'call',
      'gates',
      'options',
      'recovery',
      'loop',
      'submit',
      'nested',
      '.',
    ],
    'providers/anthropic': ['wire', 'thinking', 'decode', 'encode', 'validate', '.'],
    'providers/bedrock': ['wire', 'decode', 'encode', 'validate', '.'],
    'providers/gemini': ['wire', 'decode', 'encode', 'validate', '.', 'interactions'],
    'providers/gemini/interactions': ['wire', 'decode', 'encode', 'validate', '.'],
    'providers/openai': ['.', 'chat', 'responses'],
    mcp: ['access', 'client', 'server', '.'],
    testing: ['.', 'store', 'model', 'loopback'],
    cli: ['terminal', 'command', 'servers', 'run', 'wire', 'calls', 'mcp', 'commands', '.'],
  },
}

/** Packages that no import path from the root entry may reach, not even lazily or for a type. */
export const neverFromRoot = [
  'openai',
  '@anthropic-ai/*',
  '@aws-sdk/*',
  '@google/*',
  '@modelcontextprotocol/*',
  '@azure/*',
  '@azure-rest/*',
  'libsql',
  '@libsql/*',
  'better-sqlite3',
  'postgres',
  'aws4fetch',
  '@restatedev/*',
  '@opentelemetry/*',
  'pg',
  'node:sqlite',
]

/** Files that load modules of the user's, whose names nobody knows beforehand. */
export const importsByName = ['src/cli/run/import-file.ts']

/** Packages that the root entry may load only when first needed: by `import()`, never statically. */
export const onlyLazilyFromRoot = ['gpt-tokenizer', 'marked', 're2js']

/** Words that say nothing, wherever in a file or folder name they stand. */
export const vagueWords =
  'util utils utility helper helpers misc common shared manager stuff'.split(' ')

/** Names that say nothing when they stand alone, though they may be part of a good name. */
export const vagueNames = 'base lib types functions classes interfaces internal'.split(' ')

export const maxLines = { source: 400, test: 600 }

/** How many source files may stand beside each other in a folder of `src/`; tests are not counted. */
export const maxFilesBeside = 22
