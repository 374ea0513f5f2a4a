/**
 * Kills the core a hundred times during writes of snippets, and of wikis. Then 20 writers make 10,000 writes to two cores,
 * after which `git fsck` is clean. With `postgres` as argument, the cores run on PostgreSQL instead of SQLite.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const tests = ['snippet', 'wiki'].map((kind) => `test/core/${kind}-kills.test.ts`)
const config = process.argv[2] === 'postgres' ? ['--config', 'test/postgres/vitest.config.ts'] : []
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const child = spawn(process.execPath, [vitest, 'run', ...config, ...tests], {
  cwd: root,
  env: { ...process.env, PENSTOCK_TEST_KILLS: '100', PENSTOCK_TEST_WRITES: '10000' },
  stdio: 'inherit',
})
const [code] = (await once(child, 'close')) as [number | null]
process.exitCode = code ?? 1
