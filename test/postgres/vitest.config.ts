import { join } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

const root = join(import.meta.dirname, '../..')

/** `npm run test:postgres`: what keeps its data in a `World` does it on PostgreSQL. */
export default mergeConfig(base, defineConfig({ root, test: { root, globalSetup: ['test/postgres/one-server.ts'] } }))
