import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { freePort } from '../collector/free-port.ts'

const bin = createRequire(import.meta.url).resolve('@penstock/cli/bin/penstock.mjs')

export const ROOT_TOKEN = 'root-token-of-the-crash-tests'
const START_TIMEOUT_MS = 60_000
/** A commit may wait 30 s for its turn. */
const CALL_TIMEOUT_MS = 45_000

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whoever asks knows what is in it
  readonly json: any
}

export interface ProcessOptions {
  /** Of PostgreSQL; without it, SQLite in the directory. */
  readonly databaseUrl?: string | undefined
  readonly role?: 'core' | 'worker'
  readonly env?: Readonly<Record<string, string>>
}

/** `penstock serve core`, or another role, as people start it: a process of its own that runs what the build has made. */
export class CoreProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  /** Of the API, with the path of its version. */
  readonly url: string
  readonly #exited: Promise<unknown>
  #stderr = ''

  /** Resolves once it serves; rejects with what it said when it ends before. */
  static async start(dataDir: string, options: ProcessOptions = {}): Promise<CoreProcess> {
    const core = new CoreProcess(dataDir, await freePort(), options)
    const said = once(core.#child.stdout!, 'data', { signal: AbortSignal.timeout(START_TIMEOUT_MS) })
    try {
      if (await Promise.race([said.then(() => true), core.#exited.then(() => false)])) return core
      throw new Error(`the core did not start: ${core.#stderr}`)
    } catch (error) {
      said.catch(() => {})
      await core[Symbol.asyncDispose]()
      throw error
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
    endWhenWeEnd(this.#child)
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Its log. */
  get stderr(): string {
    return this.#stderr
  }

  /** Rejects when there is no whole answer. */
  async call(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, ...(body && { 'Content-Type': 'application/json' }) },
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
  }

  /** @throws Error for anything but a success */
  async must(method: string, path: string, body?: object): Promise<Answer['json']> {
    const { status, json } = await this.call(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }

  /** At once and without a chance to do anything about it. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** In order. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill()
    await this.#exited
  }
}

/** However this process ends, its end of the pipe closes. */
function endWhenWeEnd(child: ChildProcess): void {
  const watcher = spawn('sh', ['-c', `read _; kill -9 ${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.once('close', () => watcher.kill('SIGKILL'))
}
