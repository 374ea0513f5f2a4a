import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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

/**
 * All listeners of `penstock serve` in one process, which measures its turns. Its exports go to a sink in this process, so that
 * a record includes its intake and its conversion, but not the storage of its telemetry.
 */
export class ProbedService implements AsyncDisposable {
  readonly coreUrl: string
  readonly managementUrl: string
  readonly otlpUrl: string
  readonly #child: ChildProcess
  readonly #dataDir: string
  readonly #sink: Server
  #asked: Promise<unknown> = Promise.resolve()

  static async start(): Promise<ProbedService> {
    const sink = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end())
    })
    await once(sink.listen(0, '127.0.0.1'), 'listening')
    const [core, management, otlpHttp, otlpGrpc] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ]
    const service = new ProbedService({ core, management, otlpHttp, otlpGrpc }, sink)
    await started(service.#child)
    return service
  }

  private constructor({ core, management, otlpHttp, otlpGrpc }: Readonly<Record<string, number>>, sink: Server) {
    this.#sink = sink
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
        PENSTOCK_EXPORT_ENDPOINT: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`,
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

  /** Returns the resident memory of the process. */
  async residentBytes(): Promise<number> {
    return (await this.#ask('memory')) as number
  }

  /** One question after another, because answers do not say which question they belong to. */
  #ask(message: 'reset' | 'read' | 'memory'): Promise<unknown> {
    const answered = this.#asked.then(async () => {
      const answer = once(this.#child, 'message')
      this.#child.send(message)
      const [value] = await answer
      return value as unknown
    })
    this.#asked = answered
    return answered
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.kill('SIGTERM')
    await closed
    this.#sink.close()
    this.#sink.closeAllConnections()
    rmSync(this.#dataDir, { recursive: true, force: true })
  }
}
