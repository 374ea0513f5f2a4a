import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Tests read the packages' sources: no build stands between a change and its test.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    reporters: ['default', './test/closing-line.ts'],
  },
})
