import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'
import { suiteProjects } from './test/suites.ts'

export default defineConfig({
  // Tests read the packages' sources: no build stands between a change and its test.
  // The library refuses to be there twice: as node finds it, which is also how those find it who use it.
  resolve: { conditions: ['source'], alias: { graphql: createRequire(import.meta.url).resolve('graphql') } },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Threads that the code under test starts read the sources too.
    execArgv: ['--import', new URL('./test/typescript-in-threads.mjs', import.meta.url).href],
    reporters: ['default', './test/closing-line.ts'],
    projects: suiteProjects(),
  },
})
