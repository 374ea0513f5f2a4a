import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

/** Hold clients that are not ours to the time they take, or fill the machine with processes: they have it to themselves. */
const alone = ['test/{browser,core,export,gateway,interop}/**/*.test.ts']

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
    projects: [
      {
        extends: true,
        test: {
          name: 'side by side',
          include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...alone],
          // As many as by itself, but not only one where there are two cores: a test waits as much as it computes.
          maxWorkers: Math.max(2, availableParallelism() - 1),
        },
      },
      { extends: true, test: { name: 'alone', include: alone, maxWorkers: 1 } },
    ],
  },
})
