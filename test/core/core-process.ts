import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { loadavg } from 'node:os'
import { freePort } from '../collector/free-port.ts'
import { cpuSeconds } from '../collector/process-cpu.ts'

const bin = createRequire(import.meta.url).resolve('@penstock/cli/bin/penstock.mjs')

export const ROOT_TOKEN = 'root-token-of-the-crash-tests'
const START_TIMEOUT_MS = 60_000
/** Longer than the 30 s that a commit may wait for the repository's lock. */
const CALL_TIMEOUT_MS = 45_000

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: callers know the shape of the answer
  readonly json: any
}

export interface ProcessOptions {
  /** The URL of a PostgreSQL database; default: SQLite in the data directory. */
  readonly databaseUrl?: string | undefined
  readonly role?: 'core' | 'worker'
  readonly env?: Readonly<Record<string, string>>
  /** How long the start may take. A busy machine needs more than the default of a minute. */
  readonly startTimeoutMs?: number
}

/** A process that runs the built `penstock serve core`, or another role, as users start it. */
export class CoreProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  /** The base URL of the API, including `/api/v4`. */
  readonly url: string
  readonly #exited: Promise<unknown>
  #stderr = ''

  /** Resolves when the process serves requests, and rejects with its log if it ends before. */
  static async start(dataDir: string, options: ProcessOptions = {}): Promise<CoreProcess> {
    const { startTimeoutMs = START_TIMEOUT_MS } = options
    const core = new CoreProcess(dataDir, await freePort(), options)
    const started = once(core.#child.stdout!, 'data', { signal: AbortSignal.timeout(startTimeoutMs) })
    try {
      if (await Promise.race([started.then(() => true), core.#exited.then(() => false)])) return core
      throw new Error('it ended')
    } catch (error) {
      started.catch(() => {})
      const used = core.#usedTime()
      await core[Symbol.asyncDispose]()
      throw new Error(`the core did not start${used}: ${core.#stderr}`, { cause: error })
    }
  }

  private constructor(dataDir: string, port: number, { databaseUrl, role = 'core', env }: ProcessOptions) {
    this.url = `http://127.0.0.1:${port}/api/v4`
    this.#child = spawn(process.execPath, [bin, 'serve', role], {
      env: {
        PATH: process.env.PATH ?? '',
        PENSTOCK_DATA_DIR: dataDir,
        ...(databaseUrl !== undefined && { PENSTOCK_DATABASE_URL: databaseUrl }),
        PENSTOCK_CORE_LISTEN: `127.0.0.1:${port}`,
        PENSTOCK_ROOT_TOKEN: ROOT_TOKEN,
        PENSTOCK_AUTHENTICATED_PER_MINUTE: '10000000',
        PENSTOCK_ANONYMOUS_PER_MINUTE: '10000000',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stderr!.on('data', (chunk) => {
      this.#stderr += chunk
    })
    this.#exited = once(this.#child, 'close')
    killWithParent(this.#child)
  }

  /** Returns the CPU time of a process that still runs, to distinguish a start that waits from one on a machine that is too busy. */
  #usedTime(): string {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return ''
    return ` with ${cpuSeconds(this.pid).toFixed(1)} s of CPU, at a load average of ${loadavg()[0]!.toFixed(1)}`
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** The log of the process. */
  get stderr(): string {
    return this.#stderr
  }

  /** The header that authenticates requests as the administrator. */
  readonly credential = { 'PRIVATE-TOKEN': ROOT_TOKEN }

  /** Sends a request, and rejects if there is no complete response. */
  async call(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...this.credential, ...(body && { 'Content-Type': 'application/json' }) },
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
  }

  /** Sends a request and returns the body. @throws Error for any status but a success */
  async must(method: string, path: string, body?: object): Promise<Answer['json']> {
    const { status, json } = await this.call(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }

  /** Kills the process with SIGKILL, so that it cannot clean up. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Stops the process in order, and waits for its end. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill()
    await this.#exited
  }
}

/** Kills the child when this process ends for any reason, which closes the pipe. */
function killWithParent(child: ChildProcess): void {
  const watcher = spawn('sh', ['-c', `read _; kill -9 ${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.once('close', () => watcher.kill('SIGKILL'))
}
