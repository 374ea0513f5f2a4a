import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from '@penstock/runtime'
import { onTestFinished } from 'vitest'
import { Interrupted } from '../../packages/cli/src/process/environment.ts'
import { type Outcome, penstock, Sink } from '../command-line.ts'

export const ADMIN_KEY = 'administrator-key-of-the-tests'

export interface RunningGateway {
  /** `http://127.0.0.1:port` of the first OTLP port, which also accepts gRPC. The role `observe` has none. */
  readonly otlpUrl: string
  readonly otlpPort: number
  /** All OTLP ports, including the first one. */
  readonly otlpPorts: readonly number[]
  readonly managementUrl: string
  readonly dataDir: string
  /** Returns what the gateway has printed. */
  banner(): string
  /** Returns the log, one JSON object per line. */
  logs(): string
  /** Calls a path below `/api/v1/ingest_auth` with the Admin key. */
  call<Json = unknown>(method: string, path: string, body?: object): Promise<{ status: number; json: Json }>
  /** Creates a token. */
  token(body?: object): Promise<{ id: string; token: string }>
  enforce(enabled: boolean, more?: object): Promise<void>
  /** Stops the gateway, with SIGTERM by default. Resolves when it has ended. */
  stop(by?: 'SIGINT' | 'SIGTERM'): Promise<Outcome>
}

/** Runs `penstock serve gateway`, or another role, in this process, on free ports and in a temporary data directory, until the test ends. */
export async function startGateway(
  env: Readonly<Record<string, string>> = {},
  { clock = systemClock, role = 'gateway' }: { readonly clock?: Clock; readonly role?: 'gateway' | 'observe' } = {},
): Promise<RunningGateway> {
  const dataDir = env.PENSTOCK_DATA_DIR ?? mkdtempSync(join(tmpdir(), 'penstock-gateway-'))
  const interruption = new AbortController()
  const stdout = new Sink()
  const stderr = new Sink()
  const firstOutput = new Promise<void>((resolve) => stdout.onWrite(() => resolve()))
  const run = penstock(['serve', role], {
    env: {
      PENSTOCK_DATA_DIR: dataDir,
      PENSTOCK_OBS_API_KEY: ADMIN_KEY,
      PENSTOCK_OBS_LISTEN: '127.0.0.1:0',
      PENSTOCK_OTLP_HTTP_LISTEN: '127.0.0.1:0',
      PENSTOCK_OTLP_GRPC_LISTEN: '127.0.0.1:0',
      PENSTOCK_DRAIN_DELAY_MS: '0',
      PENSTOCK_DRAIN_TIMEOUT_MS: '2000',
      ...env,
    },
    clock,
    stdout,
    stderr,
    signal: interruption.signal,
  })
  const stop = (by: 'SIGINT' | 'SIGTERM' = 'SIGTERM') => {
    interruption.abort(new Interrupted(by))
    return run
  }
  onTestFinished(async () => {
    await stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const ended = await Promise.race([firstOutput, run])
  if (ended !== undefined) throw new Error(`the gateway did not start: ${ended.stderr}`)

  const managementUrl = /on (http:\S+)\./.exec(stdout.text)![1]!
  const otlpAddresses = /OTLP on (.+) \(HTTP/.exec(stdout.text)?.[1]?.split(' and ') ?? []
  const otlpPorts = otlpAddresses.map((address) => Number(address.split(':').at(-1)))
  const call = async <Json = unknown>(method: string, path: string, body?: object) => {
    const response = await fetch(`${managementUrl}/api/v1/ingest_auth${path}`, {
      method,
      headers: { 'OBS-API-KEY': ADMIN_KEY, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, json: (text === '' ? undefined : JSON.parse(text)) as Json }
  }
  const callOrThrow = async <Json>(method: string, path: string, body: object) => {
    const { status, json } = await call<Json>(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }
  return {
    otlpUrl: `http://${otlpAddresses[0]}`,
    otlpPort: otlpPorts[0]!,
    otlpPorts,
    managementUrl,
    dataDir,
    banner: () => stdout.text,
    logs: () => stderr.text,
    call,
    token: (body = {}) => callOrThrow('POST', '/tokens', { name: 'test', ...body }),
    enforce: async (enabled, more = {}) => {
      await callOrThrow('PUT', '/state', { enabled, ...more })
    },
    stop,
  }
}
