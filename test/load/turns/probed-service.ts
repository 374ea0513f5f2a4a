import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../collector/free-port.ts'
import { started } from '../gateway/penstock.ts'

const bin = fileURLToPath(new URL('../../../../../packages/cli/bin/penstock.mjs', import.meta.url))
const probe = new URL('turn-probe.js', import.meta.url).href

export const secrets = {
  rootToken: 'load-administrator-token',
  apiKey: 'load-management-admin-key',
  source: 'forge',
  sourceToken: 'load-source-token',
}

/** Every listener of `penstock serve`, in one process whose turns are measured. Its exports go to its own store. */
export class ProbedService implements AsyncDisposable {
  readonly coreUrl: string
  readonly managementUrl: string
  readonly otlpUrl: string
  readonly #child: ChildProcess
  readonly #dataDir: string

  static async start(): Promise<ProbedService> {
    const service = new ProbedService(await freePort(), await freePort(), await freePort(), await freePort())
    await started(service.#child)
    return service
  }

  private constructor(core: number, management: number, otlpHttp: number, otlpGrpc: number) {
    this.coreUrl = `http://127.0.0.1:${core}`
    this.managementUrl = `http://127.0.0.1:${management}`
    this.otlpUrl = `http://127.0.0.1:${otlpHttp}`
    this.#dataDir = mkdtempSync(join(tmpdir(), 'penstock-turns-'))
    const sources = join(this.#dataDir, 'sources.json')
    const source = { secretToken: secrets.sourceToken, signals: ['traces', 'metrics', 'logs'] }
    writeFileSync(sources, JSON.stringify({ [secrets.source]: source }))
    this.#child = spawn(process.execPath, ['--import', probe, bin, 'serve'], {
      env: {
        PATH: process.env.PATH ?? '',
        PENSTOCK_DATA_DIR: this.#dataDir,
        PENSTOCK_ROOT_TOKEN: secrets.rootToken,
        PENSTOCK_OBS_API_KEY: secrets.apiKey,
        PENSTOCK_SOURCES: sources,
        PENSTOCK_CORE_LISTEN: `127.0.0.1:${core}`,
        PENSTOCK_OBS_LISTEN: `127.0.0.1:${management}`,
        PENSTOCK_OTLP_HTTP_LISTEN: `127.0.0.1:${otlpHttp}`,
        PENSTOCK_OTLP_GRPC_LISTEN: `127.0.0.1:${otlpGrpc}`,
        PENSTOCK_DRAIN_DELAY_MS: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
  }

  /** Returns the longest turn of the event loop, in milliseconds, while `work` was under way. */
  async longestTurnMs(work: () => Promise<unknown>): Promise<number> {
    await this.#ask('reset')
    await work()
    return (await this.#ask('read')) as number
  }

  async #ask(message: 'reset' | 'read'): Promise<unknown> {
    const answer = once(this.#child, 'message')
    this.#child.send(message)
    const [value] = await answer
    return value
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.kill('SIGTERM')
    await closed
    rmSync(this.#dataDir, { recursive: true, force: true })
  }
}
