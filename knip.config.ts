import type { KnipConfig } from 'knip'
import manifest from './package.json' with { type: 'json' }

// The public entries are those of package.json, so that a new subpath is named in one place.
const targets = [...Object.values(manifest.exports), ...Object.values(manifest.imports)]
const built = [
  ...targets.flatMap((target) => (typeof target === 'string' ? [] : Object.values(target))),
  ...Object.values(manifest.bin),
]
const publicEntries = built
  .filter((path) => path.endsWith('.js'))
  .map((path) => path.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts!'))

// With `--production` only what has an exclamation mark counts, so that no test keeps code alive.
const config: KnipConfig = ({ production = false }) => ({
  entry: [
    ...publicEntries,
    'examples/**/*.mjs',
    'examples/incident/agent.ts',
    'examples/chat/page/main.tsx',
    'scripts/build-scanner.mjs',
    'test/deep/browser/*.mjs',
    'test/crash/*-process.ts',
    'test/mcp/*.mjs',
    'test/otel/*.mjs',
    'test/restate/*.mjs',
    'test/stored/make-fixtures.mjs',
    'src/**/*.test-d.ts',
    // Found by their place.
    'src/providers/**/fixtures/samples.ts',
  ],
  project: [
    'src/**/*.ts!',
    '!src/**/fixtures/**!',
    'test/**/*.{ts,mjs}',
    'scripts/**/*.mjs',
    'examples/**/*.{ts,tsx,mjs}',
  ],
  // A type named in an exported signature stays exported, even if no other file names it; what a test
  // looks at inside a file is alive when the file itself uses it.
  ignoreExportsUsedInFile: production || { interface: true, type: true },
  // Part of every Linux and macOS; the tests that need it run only where it is.
  ignoreBinaries: ['script', 'mount', 'umount'],
  // Bundled by the test of the workflow, from a text that knip does not read.
  ignoreDependencies: ['@actions/workflow-parser'],
  // A package of its own, with its own dependencies.
  ignore: ['bench/**'],
})

export default config
