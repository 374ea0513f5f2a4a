import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'
import { onPostgres, suiteProjects } from '../suites.ts'

const root = join(import.meta.dirname, '../..')

/** The configuration of `npm run test:postgres`: tests that store data in a `World` store it in PostgreSQL. */
export default defineConfig({
  ...base,
  root,
  test: { ...base.test, root, globalSetup: ['test/postgres/shared-server.ts'], projects: suiteProjects(onPostgres) },
})
