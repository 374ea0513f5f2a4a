import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds } from '../../collector/process-cpu.ts'
import { type CoreProcess, ROOT_TOKEN } from '../../core/core-process.ts'
import { exportedProject, SOURCE, SOURCE_SECRET, startService } from '../../export/exporting-service.ts'
import { numberedPipeline } from '../../export/numbered-pipeline.ts'
import { type LoadResult, type WrkRequest, wrkRequests } from '../gateway/wrk.ts'
import type { Sink } from './sink-process.ts'

const EXAMPLE = 77_777_777

/** A core in a separate process, with a project and a source. Their pipelines are exported in all signals. */
export class ServedIntake implements AsyncDisposable {
  readonly #core: CoreProcess
  readonly #dataDir: string
  readonly #projectId: number
  /** The number of the next pipeline that was not sent yet. */
  #next = 1

  static async start(endpoint: string): Promise<ServedIntake> {
    const dataDir = mkdtempSync(join(tmpdir(), 'penstock-served-'))
    const core = await startService(dataDir, endpoint)
    return new ServedIntake(dataDir, core, await exportedProject(core))
  }

  private constructor(dataDir: string, core: CoreProcess, projectId: number) {
    this.#dataDir = dataDir
    this.#core = core
    this.#projectId = projectId
  }

  get database(): string {
    return join(this.#dataDir, 'core.db')
  }

  cpuSeconds(): number {
    return cpuSeconds(this.#core.pid)
  }

  /** Sends requests as fast as they are answered, each with another pipeline. */
  async load(
    how: 'put' | 'hook',
    { seconds, connections }: { seconds: number; connections: number },
  ): Promise<LoadResult> {
    const first = this.#next
    const result = await wrkRequests({ ...this.#request(how, first), connections }, seconds)
    // The count includes the requests that were being sent at the end.
    this.#next += result.requests + connections + 1
    return result
  }

  #request(how: 'put' | 'hook', first: number): WrkRequest {
    const isPut = how === 'put'
    const path = isPut ? `/api/v4/projects/${this.#projectId}/pipeline_records/` : `/hooks/pipelines/${SOURCE}`
    return {
      port: Number(new URL(this.#core.url).port),
      method: isPut ? 'PUT' : 'POST',
      path,
      headers: {
        'Content-Type': 'application/json',
        ...(isPut ? { 'PRIVATE-TOKEN': ROOT_TOKEN } : { 'X-Gitlab-Token': SOURCE_SECRET }),
      },
      body: Buffer.from(numberedPipeline(EXAMPLE)),
      lua: `local number = ${first - 1}
local template = wrk.body
function request()
  number = number + 1
  local body = template:gsub("n${EXAMPLE}", string.format("n%08d", number)):gsub("${EXAMPLE}", tostring(number))
  return wrk.format(nil, ${isPut ? `"${path}" .. number` : 'nil'}, nil, body)
end`,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#core[Symbol.asyncDispose]()
    rmSync(this.#dataDir, { recursive: true, force: true })
  }
}

const LOOK_AGAIN_MS = 20
const STALLS_AFTER_MS = 180_000

/** Waits until the sink has accepted this number of exports. Fails if none arrives for `stallsAfterMs`. */
export async function arrived(sink: Sink, exports: number, stallsAfterMs = STALLS_AFTER_MS): Promise<void> {
  let latest = { exports: -1, atMs: performance.now() }
  for (;;) {
    const counts = await sink.counts()
    if (counts.exports >= exports) return
    if (counts.exports > latest.exports) latest = { exports: counts.exports, atMs: performance.now() }
    if (performance.now() - latest.atMs > stallsAfterMs) {
      throw new Error(`${counts.exports} of ${exports} exports have arrived, and no more come`)
    }
    await sleep(LOOK_AGAIN_MS)
  }
}
