import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// The tests beside the code, on any system: no server, no terminal, no other process to kill.
export default mergeConfig(
  { ...base, test: {} },
  defineConfig({
    test: {
      include: ['src/**/*.test.ts'],
      // They start a PostgreSQL server.
      exclude: ['src/stores/postgres/*.test.ts'],
      testTimeout: 60_000,
      isolate: false,
    },
  }),
)
