import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../collector/free-port.ts'
import { cpuSeconds } from '../../collector/process-cpu.ts'
import { type Subject, withChildren } from './subjects.ts'

const bin = fileURLToPath(new URL('../../../../../packages/cli/bin/penstock.mjs', import.meta.url))
const ADMIN_KEY = 'benchmark-administrator-key'

export interface Penstock extends Subject {
  readonly pid: number
  readonly token: string
  readonly dataDir: string
  /** The time from the start of the process to the line with its addresses. */
  readonly startMs: number
  readonly managementUrl: string
  /** Calls the management API with the Admin key. Fails unless the answer is 2xx. */
  call(method: string, path: string, body?: object): Promise<unknown>
}

/**
 * Starts the gateway in a separate process, with one token and enforcement on. Without an upstream it has the embedded store.
 * A data directory in `env` is kept after its end. `log` is a file descriptor for its stderr.
 */
export async function startPenstockGateway(
  name: string,
  upstreamUrl: string | undefined,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  log: 'inherit' | number = 'inherit',
): Promise<Penstock> {
  const ownDataDir = env.PENSTOCK_DATA_DIR === undefined ? mkdtempSync(join(tmpdir(), 'penstock-load-')) : undefined
  const dataDir = ownDataDir ?? env.PENSTOCK_DATA_DIR!
  const [httpPort, grpcPort, managementPort] = [await freePort(), await freePort(), await freePort()]
  const spawnedAtMs = performance.now()
  const child = spawn(process.execPath, [bin, 'serve', 'gateway', ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      PENSTOCK_DATA_DIR: dataDir,
      PENSTOCK_OBS_API_KEY: ADMIN_KEY,
      PENSTOCK_OBS_LISTEN: `127.0.0.1:${managementPort}`,
      PENSTOCK_OTLP_HTTP_LISTEN: `127.0.0.1:${httpPort}`,
      PENSTOCK_OTLP_GRPC_LISTEN: `127.0.0.1:${grpcPort}`,
      ...(upstreamUrl !== undefined && { PENSTOCK_UPSTREAM: upstreamUrl }),
      PENSTOCK_DRAIN_DELAY_MS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', log],
  })
  await started(child)
  const startMs = performance.now() - spawnedAtMs
  const managementUrl = `http://127.0.0.1:${managementPort}`
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${managementUrl}/api/v1${path}`, {
      method,
      headers: { 'OBS-API-KEY': ADMIN_KEY, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const { token } = (await call('POST', '/ingest_auth/tokens', { name: 'load' })) as { token: string }
  await call('PUT', '/ingest_auth/state', { enabled: true })
  return {
    name,
    pid: child.pid!,
    token,
    dataDir,
    startMs,
    managementUrl,
    httpPort: httpPort!,
    grpcPort: grpcPort!,
    call,
    cpuSeconds: () => withChildren(child.pid!).reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    stop: async () => {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      await closed
      if (ownDataDir !== undefined) rmSync(ownDataDir, { recursive: true, force: true })
    },
  }
}

/** Waits until the process prints its addresses, which it does when it listens. */
export async function started(child: ChildProcess): Promise<void> {
  const lines = createInterface({ input: child.stdout! })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`penstock ended with ${code}`)
  })
  await Promise.race([once(lines, 'line'), ended])
  ended.catch(() => {})
}
