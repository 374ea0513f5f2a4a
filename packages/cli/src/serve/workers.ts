import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { type IngestPlane, RemotePlane, servePlane } from '@penstock/gateway'
import type { Clock, Log } from '@penstock/runtime'

/** A worker that ends is replaced after this long, and after twice as long each time its replacement cannot start. */
const RESTART_MS = 1_000
const MAX_RESTART_MS = 30_000
/** What a worker may need to end beyond its own deadlines; then it hangs. */
const END_MARGIN_MS = 10_000

interface WorkersOptions {
  readonly count: number
  /** Variables the workers get beside ours. */
  readonly env: Readonly<Record<string, string>>
  /** How long a worker gives what is under way. */
  readonly drainTimeoutMs: number
  readonly clock: Clock
  readonly log: Log
}

/** The workers of one machine: they share the OTLP ports, and are replaced when they end. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #planes = new Map<Worker, RemotePlane>()
  readonly #ending = new AbortController()
  /** Replacements in a row that could not start. */
  #failures = 0

  /** Resolves when every worker listens; fails with the first one's reason when it cannot. */
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

  /** Of the workers that live now. */
  get planes(): readonly IngestPlane[] {
    return [...this.#planes.values()]
  }

  /** Resolves when all have ended; one that hangs is killed once it has had time for everything. */
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
          'a worker did not end, and is killed',
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
        // It has nothing left to do, but may well stay for the sake of its channel.
        worker.process.kill('SIGKILL')
      })
      worker.once('exit', (code, signal) => reject(new WorkerFailed(`a worker ended with ${signal ?? code}`)))
    })
  }

  #ended(worker: Worker, code: number | null, signal: string | null): void {
    this.#planes.delete(worker)
    if (this.#ending.signal.aborted) return
    const { log } = this.#options
    log.error(
      { event: 'worker.ended', pid: worker.process.pid, code, signal },
      'a worker has ended; another takes its place',
    )
    void this.#replace()
  }

  /** One that cannot start ends, and is replaced like any other. */
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
      log.error({ event: 'worker.unstartable', reason: (error as Error).message }, 'a worker could not start')
    }
  }
}

/** A worker could not start. The message is one line for the operator. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed'
}

/** Whether this process is one of `Workers`. */
export const isWorker = (): boolean => cluster.isWorker

/** The worker's side: opens its plane, answers the primary, and resolves when the primary lets it go. */
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
