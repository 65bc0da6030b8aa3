import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: { alias: { '#hash': source('./src/core/hash.node.ts') } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/deep/**'],
    testTimeout: 20_000,
    // Loading the modules anew for each file would take a third of the run; none of them keeps a state
    // that one test file could spoil for another.
    isolate: false,
    // Many tests wait for servers, timers and other processes: one worker a core leaves a quarter of the time unused.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    maxConcurrency: 2,
  },
})
