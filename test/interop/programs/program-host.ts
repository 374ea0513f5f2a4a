import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { RunningCore } from '../../contract/core/running-core.ts'
import { type ForwardedCall, ForwardProxy } from './forward-proxy.ts'

/** The URL of the core for programs. They reach it through a proxy, because glab does not accept a port in git remotes. */
export const CORE_URL = 'http://gitlab.example.test'

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly limitMs?: number
}

/** A core with a directory in which programs run as the administrator `root`. */
export class ProgramHost {
  readonly core: RunningCore
  /** The working directory of the programs, and their HOME. */
  readonly directory: string
  readonly #proxy: ForwardProxy

  static async start(): Promise<ProgramHost> {
    const core = await RunningCore.start(CORE_URL)
    return new ProgramHost(core, await ForwardProxy.start(core.url))
  }

  private constructor(core: RunningCore, proxy: ForwardProxy) {
    this.core = core
    this.#proxy = proxy
    this.directory = mkdtempSync(join(tmpdir(), 'penstock-program-'))
  }

  /** The requests that programs have made. */
  get calls(): readonly ForwardedCall[] {
    return this.#proxy.calls
  }

  /**
   * Returns the calls that the core did not serve: a missing route, a refused request or an internal error. A thing that does
   * not exist is an answer.
   */
  unserved(): string[] {
    return this.calls
      .filter(({ status, error }) => status >= 400 && !(status === 404 && error.startsWith('{"message"')))
      .map(({ method, target, status, error }) => `${method} ${target}: ${status} ${error}`)
  }

  /** Starts a program with an environment of its own. */
  spawn(command: string, args: readonly string[], { env = {}, limitMs = 60_000 }: RunOptions = {}) {
    return spawn(command, args, {
      cwd: this.directory,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: this.directory,
        LANG: 'C.UTF-8',
        NO_COLOR: '1',
        http_proxy: this.#proxy.url,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
    })
  }

  /** Runs a program to its end. */
  async run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    const child = this.spawn(command, args, options)
    const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
    return { code, stdout, stderr }
  }

  /** Calls the API as root, and returns the JSON of the response. */
  async api(method: string, path: string, body?: unknown): Promise<unknown> {
    const reply = await fetch(`${this.core.url}/api/v4${path}`, {
      method,
      headers: { 'PRIVATE-TOKEN': this.core.rootToken, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const said = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${said}`)
    return said === '' ? undefined : JSON.parse(said)
  }

  async close(): Promise<void> {
    this.#proxy.close()
    await this.core.close()
    rmSync(this.directory, { recursive: true, force: true })
  }
}
