import { join } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

const root = join(import.meta.dirname, '../..')

/** The configuration of `npm run test:postgres`: tests that store data in a `World` store it in PostgreSQL. */
export default mergeConfig(
  base,
  defineConfig({ root, test: { root, globalSetup: ['test/postgres/shared-server.ts'] } }),
)
