import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { type IngestPlane, RemotePlane, servePlane } from '@penstock/gateway'
import type { Clock, Log } from '@penstock/runtime'

/** The wait before an ended worker is replaced. It doubles each time the replacement cannot start. */
const RESTART_MS = 1_000
const MAX_RESTART_MS = 30_000
/** How long a worker may take to end beyond its own deadlines before it is killed. */
const END_MARGIN_MS = 10_000

interface WorkersOptions {
  readonly count: number
  /** Environment variables of the workers in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>
  /** How long a worker waits for requests in progress when it drains. */
  readonly drainTimeoutMs: number
  readonly clock: Clock
  readonly log: Log
}

/** The worker processes of one machine. They share the OTLP ports, and are replaced when they end. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #planes = new Map<Worker, RemotePlane>()
  readonly #ending = new AbortController()
  /** The number of consecutive replacements that could not start. */
  #failures = 0

  /** Starts the workers. Resolves when all of them listen; rejects with the reason of the first one that cannot. */
  static async start(options: WorkersOptions): Promise<Workers> {
    const workers = new Workers(options)
    const starting = Array.from({ length: options.count }, () => workers.#fork())
    try {
      await Promise.all(starting)
    } catch (error) {
      workers.#ending.abort()
      for (const worker of workers.#planes.keys()) worker.process.kill('SIGKILL')
      throw error
    }
    return workers
  }

  private constructor(options: WorkersOptions) {
    this.#options = options
  }

  /** The planes of the running workers. */
  get planes(): readonly IngestPlane[] {
    return [...this.#planes.values()]
  }

  /** Drains all workers and resolves when they have ended. A worker that exceeds all its deadlines is killed. */
  async drain(delayMs: number): Promise<void> {
    this.#ending.abort()
    await Promise.all([...this.#planes].map(([worker, plane]) => this.#end(worker, plane, delayMs)))
  }

  async #end(worker: Worker, plane: RemotePlane, delayMs: number): Promise<void> {
    const { clock, drainTimeoutMs, log } = this.#options
    const ended = new AbortController()
    const exited = once(worker, 'exit').finally(() => ended.abort())
    const boundMs = delayMs + drainTimeoutMs + END_MARGIN_MS
    clock.sleep(boundMs, ended.signal).then(
      () => {
        log.error(
          { event: 'worker.killed', pid: worker.process.pid, after_ms: boundMs },
          'A worker did not end in time and is killed',
        )
        worker.process.kill('SIGKILL')
      },
      () => {},
    )
    const drained = plane.drain(delayMs).then(
      () => worker.disconnect(),
      () => worker.disconnect(),
    )
    await Promise.all([exited, drained])
  }

  #fork(): Promise<void> {
    const worker = cluster.fork(this.#options.env)
    this.#planes.set(worker, new RemotePlane(worker, this.#options.clock))
    worker.once('exit', (code, signal) => this.#ended(worker, code, signal))
    return new Promise((resolve, reject) => {
      worker.on('message', (message: unknown) => {
        const { penstock, reason } = message as { penstock?: string; reason?: string }
        if (penstock === 'listening') resolve()
        if (penstock !== 'failed') return
        reject(new WorkerFailed(reason ?? 'unknown reason'))
        // It has nothing left to do, but its open channel may keep it alive.
        worker.process.kill('SIGKILL')
      })
      worker.once('exit', (code, signal) => reject(new WorkerFailed(`a worker ended with ${signal ?? code}`)))
    })
  }

  #ended(worker: Worker, code: number | null, signal: string | null): void {
    this.#planes.delete(worker)
    if (this.#ending.signal.aborted) return
    const { log } = this.#options
    log.error({ event: 'worker.ended', pid: worker.process.pid, code, signal }, 'A worker has ended and is replaced')
    void this.#replace()
  }

  /** Starts a replacement after a pause. If it cannot start, it ends and is replaced in turn. */
  async #replace(): Promise<void> {
    const { clock, log } = this.#options
    const pauseMs = Math.min(RESTART_MS * 2 ** this.#failures, MAX_RESTART_MS)
    await clock.sleep(pauseMs, this.#ending.signal).catch(() => {})
    if (this.#ending.signal.aborted) return
    try {
      await this.#fork()
      this.#failures = 0
    } catch (error) {
      this.#failures += 1
      log.error(
        { event: 'worker.unstartable', reason: (error as Error).message },
        'A worker could not start; another one is started after a pause',
      )
    }
  }
}

/** The error for a worker that could not start. The message is one line for the operator. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed'
}

/** Returns whether this process is one of `Workers`. */
export const isWorker = (): boolean => cluster.isWorker

/** Runs a worker: opens its plane, answers the primary, and resolves when the primary disconnects. */
export async function workUntilReleased(
  open: () => Promise<IngestPlane>,
  reasonOf: (error: Error) => string,
): Promise<void> {
  const released = once(process, 'disconnect')
  try {
    servePlane(process, await open())
  } catch (error) {
    process.send?.({ penstock: 'failed', reason: reasonOf(error as Error) })
    return
  }
  process.send?.({ penstock: 'listening' })
  await released
}
