import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../collector/free-port.ts'
import { cpuSeconds } from '../../collector/process-cpu.ts'
import { started } from '../gateway/penstock.ts'

const bin = fileURLToPath(new URL('../../../../../packages/cli/bin/penstock.mjs', import.meta.url))
const ROOT_TOKEN = 'benchmark-administrator-token'

export interface PenstockCore {
  readonly port: number
  /** The token of the first administrator. */
  readonly rootToken: string
  /** The location for `openDatabase`. */
  readonly location: string
  /** Calls the REST API as the first administrator. Fails unless the answer is 2xx. */
  call(method: string, path: string, body: object): Promise<{ readonly id: number } & Record<string, unknown>>
  cpuSeconds(): number
  stop(): Promise<void>
}

/**
 * Starts the core as a separate process. Its rate limits count requests, but accept all of them.
 *
 * @param databaseUrl of PostgreSQL; without it SQLite, in a directory that goes when the core ends
 */
export async function startPenstockCore(
  databaseUrl?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<PenstockCore> {
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-core-load-'))
  const port = await freePort()
  const child = spawn(process.execPath, [bin, 'serve', 'core'], {
    env: {
      PATH: process.env.PATH ?? '',
      PENSTOCK_DATA_DIR: dataDir,
      PENSTOCK_ROOT_TOKEN: ROOT_TOKEN,
      PENSTOCK_CORE_LISTEN: `127.0.0.1:${port}`,
      PENSTOCK_AUTHENTICATED_PER_MINUTE: '10000000',
      PENSTOCK_ANONYMOUS_PER_MINUTE: '10000000',
      ...(databaseUrl !== undefined && { PENSTOCK_DATABASE_URL: databaseUrl }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await started(child)
  return {
    port,
    rootToken: ROOT_TOKEN,
    location: databaseUrl ?? join(dataDir, 'core.db'),
    async call(method, path, body) {
      const response = await fetch(`http://127.0.0.1:${port}/api/v4${path}`, {
        method,
        headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return JSON.parse(text)
    },
    cpuSeconds: () => cpuSeconds(child.pid!),
    async stop() {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      await closed
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
