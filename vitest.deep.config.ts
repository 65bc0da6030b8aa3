import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// One file at a time: these tests fill memory, disks and cores on purpose.
export default mergeConfig(
  { ...base, test: {} },
  defineConfig({
    test: {
      include: ['test/deep/**/*.test.ts'],
      fileParallelism: false,
      testTimeout: 600_000,
      hookTimeout: 600_000,
    },
  }),
)
