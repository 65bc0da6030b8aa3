import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

const root = fileURLToPath(new URL('.', import.meta.url))

/** The tests of which `npm test` runs a sample only. */
const sampled = ['src', 'test'].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/deep/'))
    .filter((path) => readFileSync(`${root}${path}`, 'utf8').includes("/runs.ts'")),
)

// One file at a time: these tests fill memory, disks and cores on purpose.
export default mergeConfig(
  { ...base, test: {} },
  defineConfig({
    test: {
      include: ['test/deep/**/*.test.ts', ...sampled],
      env: { BOBBIN_TEST_RUNS: 'all' },
      fileParallelism: false,
      testTimeout: 600_000,
      hookTimeout: 600_000,
    },
  }),
)
