import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'
import { suiteProjects } from './test/suites.ts'

export default defineConfig({
  // Tests import the sources of the packages, so that a change needs no build.
  // The library must be loaded only once, so it is found where Node finds it.
  resolve: { conditions: ['source'], alias: { graphql: createRequire(import.meta.url).resolve('graphql') } },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    // Ends tests that hang. Tests of processes take half a minute on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What a test waits for comes at once, except on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // Keeps transformed sources in node_modules/.experimental-vitest-cache, by their content: each project would transform them again.
    experimental: { fsModuleCache: true },
    // Threads that the code under test starts read the sources too.
    execArgv: ['--import', new URL('./test/typescript-in-threads.mjs', import.meta.url).href],
    reporters: ['default', './test/closing-line.ts'],
    projects: suiteProjects(),
  },
})
