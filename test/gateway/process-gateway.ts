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
  /** After `serve gateway`. */
  readonly args?: readonly string[]
  /** Someone else's, which then stays. */
  readonly dataDir?: string
  readonly ports?: GatewayPorts
}

export interface GatewayPorts {
  readonly http: number
  readonly grpc: number
  readonly management: number
}

export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects in it
  readonly json: any
}

/** `penstock serve gateway` as people start it: a process of its own that runs what the build has made. */
export class ProcessGateway implements AsyncDisposable {
  readonly dataDir: string
  readonly ports: GatewayPorts
  readonly #child: ChildProcess
  readonly #ownsDataDir: boolean
  readonly #exited: Promise<number | null>
  #stdout = ''
  #stderr = ''

  /** Resolves once it listens; rejects with what it said when it ends before. */
  static async start(options: ProcessGatewayStart = {}): Promise<ProcessGateway> {
    const ports = options.ports ?? { http: await freePort(), grpc: await freePort(), management: await freePort() }
    const gateway = new ProcessGateway(options, ports)
    const said = once(gateway.#child.stdout!, 'data').then(() => true)
    const isUp = await Promise.race([said, gateway.#exited.then(() => false)])
    if (isUp) return gateway
    await gateway[Symbol.asyncDispose]()
    throw new Error(`the gateway did not start: ${gateway.#stderr}`)
  }

  private constructor({ upstream, env = {}, args = [], dataDir }: ProcessGatewayStart, ports: GatewayPorts) {
    this.ports = ports
    this.#ownsDataDir = dataDir === undefined
    this.dataDir = dataDir ?? mkdtempSync(join(tmpdir(), 'penstock-process-'))
    this.#child = spawn(process.execPath, [bin, 'serve', 'gateway', ...args], {
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
    endWhenWeEnd(this.#child)
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

  /** Its log, one JSON object a line. */
  get stderr(): string {
    return this.#stderr
  }

  /** Its children: with `--workers`, those. Linux only. */
  workerPids(): number[] {
    const path = `/proc/${this.pid}/task/${this.pid}/children`
    return readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  }

  /** `path` below `/api/v1/ingest_auth`, or whole. */
  async call(method: string, path: string, body?: object, key = PROCESS_ADMIN_KEY): Promise<Called> {
    const whole = path.startsWith('/api/') ? path : `/api/v1/ingest_auth${path}`
    const response = await fetch(this.managementUrl + whole, {
      method,
      headers: { 'OBS-API-KEY': key, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers } = response
    return { status, headers, text, json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined }
  }

  async token(body: object = {}): Promise<{ id: string; token: string }> {
    return (await this.#must('POST', '/tokens', { name: 'test', ...body })).json
  }

  async enforce(enabled: boolean, more: object = {}): Promise<Called['json']> {
    return (await this.#must('PUT', '/state', { enabled, ...more })).json
  }

  /** What a path of the management listener says without a key. */
  async page(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(this.managementUrl + path)
    return { status: response.status, text: await response.text() }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Its exit code; `null` when a signal has ended it. */
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

  async #must(method: string, path: string, body: object): Promise<Called> {
    const called = await this.call(method, path, body)
    if (called.status >= 300) throw new Error(`${method} ${path}: ${called.status} ${called.text}`)
    return called
  }
}

/** However this process ends, its end of the pipe closes; workers end when their primary does. */
function endWhenWeEnd(child: ChildProcess): void {
  const watcher = spawn('sh', ['-c', `read _; kill -9 ${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.once('close', () => watcher.kill('SIGKILL'))
}
