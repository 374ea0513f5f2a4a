import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../collector/free-port.ts'

const bin = createRequire(import.meta.url).resolve('@penstock/cli/bin/penstock.mjs')

export const PROCESS_ADMIN_KEY = 'administrator-key-of-the-process-tests'

export interface ProcessGatewayStart {
  readonly upstream?: string
  readonly env?: Readonly<Record<string, string>>
  /** The role that is served. Default: `gateway`. */
  readonly role?: 'gateway' | 'observe'
  /** Arguments after the role. */
  readonly args?: readonly string[]
  /** A directory of the caller, which is not removed. */
  readonly dataDir?: string
  readonly ports?: GatewayPorts
}

export interface GatewayPorts {
  readonly http: number
  readonly grpc: number
  readonly management: number
}

export interface ApiReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the type that it expects
  readonly json: any
}

/** Runs `penstock serve gateway` as users do: in a separate process, from the build. */
export class ProcessGateway implements AsyncDisposable {
  readonly dataDir: string
  readonly ports: GatewayPorts
  readonly #child: ChildProcess
  readonly #ownsDataDir: boolean
  readonly #exited: Promise<number | null>
  #stdout = ''
  #stderr = ''

  /** Resolves when the gateway listens. Rejects with its output if it ends before. */
  static async start(options: ProcessGatewayStart = {}): Promise<ProcessGateway> {
    const ports = options.ports ?? { http: await freePort(), grpc: await freePort(), management: await freePort() }
    const gateway = new ProcessGateway(options, ports)
    const firstOutput = once(gateway.#child.stdout!, 'data').then(() => true)
    const isUp = await Promise.race([firstOutput, gateway.#exited.then(() => false)])
    if (isUp) return gateway
    await gateway[Symbol.asyncDispose]()
    throw new Error(`the gateway did not start: ${gateway.#stderr}`)
  }

  private constructor(
    { upstream, env = {}, role = 'gateway', args = [], dataDir }: ProcessGatewayStart,
    ports: GatewayPorts,
  ) {
    this.ports = ports
    this.#ownsDataDir = dataDir === undefined
    this.dataDir = dataDir ?? mkdtempSync(join(tmpdir(), 'penstock-process-'))
    this.#child = spawn(process.execPath, [bin, 'serve', role, ...args], {
      env: {
        PATH: process.env.PATH ?? '',
        PENSTOCK_DATA_DIR: this.dataDir,
        PENSTOCK_OBS_API_KEY: PROCESS_ADMIN_KEY,
        PENSTOCK_OBS_LISTEN: `127.0.0.1:${ports.management}`,
        PENSTOCK_OTLP_HTTP_LISTEN: `127.0.0.1:${ports.http}`,
        PENSTOCK_OTLP_GRPC_LISTEN: `127.0.0.1:${ports.grpc}`,
        PENSTOCK_DRAIN_DELAY_MS: '0',
        PENSTOCK_DRAIN_TIMEOUT_MS: '5000',
        ...(upstream !== undefined && { PENSTOCK_UPSTREAM: upstream }),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout!.on('data', (chunk) => {
      this.#stdout += chunk
    })
    this.#child.stderr!.on('data', (chunk) => {
      this.#stderr += chunk
    })
    this.#exited = once(this.#child, 'close').then(([code]) => code as number | null)
    killWithParent(this.#child)
  }

  get pid(): number {
    return this.#child.pid!
  }

  get otlpUrl(): string {
    return `http://127.0.0.1:${this.ports.http}`
  }

  get managementUrl(): string {
    return `http://127.0.0.1:${this.ports.management}`
  }

  get stdout(): string {
    return this.#stdout
  }

  /** The log, one JSON object per line. */
  get stderr(): string {
    return this.#stderr
  }

  /** Returns the child processes, which are the workers with `--workers`. Linux only. */
  workerPids(): number[] {
    const path = `/proc/${this.pid}/task/${this.pid}/children`
    return readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  }

  /** Calls the management API. `path` is below `/api/v1/ingest_auth`, or a whole path that begins with `/api/`. */
  async call(method: string, path: string, body?: object, key = PROCESS_ADMIN_KEY): Promise<ApiReply> {
    const fullPath = path.startsWith('/api/') ? path : `/api/v1/ingest_auth${path}`
    const response = await fetch(this.managementUrl + fullPath, {
      method,
      headers: { 'OBS-API-KEY': key, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers } = response
    return { status, headers, text, json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined }
  }

  async token(body: object = {}): Promise<{ id: string; token: string }> {
    return (await this.#callOrThrow('POST', '/tokens', { name: 'test', ...body })).json
  }

  async enforce(enabled: boolean, more: object = {}): Promise<ApiReply['json']> {
    return (await this.#callOrThrow('PUT', '/state', { enabled, ...more })).json
  }

  /** Returns the answer of a path of the management listener, without an API key. */
  async page(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(this.managementUrl + path)
    return { status: response.status, text: await response.text() }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Resolves with the exit code, or with `null` if a signal ended the process. */
  exited(): Promise<number | null> {
    return this.#exited
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.kill(signal)
    return this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL')
    await this.#exited
    if (this.#ownsDataDir) rmSync(this.dataDir, { recursive: true, force: true })
  }

  async #callOrThrow(method: string, path: string, body: object): Promise<ApiReply> {
    const reply = await this.call(method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return reply
  }
}

/** Kills the process when this one ends in any way, because the pipe closes then. Workers end with their primary. */
function killWithParent(child: ChildProcess): void {
  const watcher = spawn('sh', ['-c', `read _; kill -9 ${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.once('close', () => watcher.kill('SIGKILL'))
}
