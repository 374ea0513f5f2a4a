import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Tests read the packages' sources: no build stands between a change and its test.
  // The library refuses to be there twice: as node finds it, which is also how those find it who use it.
  resolve: { conditions: ['source'], alias: { graphql: createRequire(import.meta.url).resolve('graphql') } },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    reporters: ['default', './test/closing-line.ts'],
  },
})
