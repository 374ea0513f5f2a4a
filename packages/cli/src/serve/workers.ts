import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { answerQuestions, type IngestPlane, RemotePlane } from '@penstock/gateway'
import type { Clock, Log } from '@penstock/runtime'

/** A worker that ends is replaced after this long: one that cannot start must not keep the machine busy. */
const RESTART_MS = 1_000

interface WorkersOptions {
  readonly count: number
  /** Variables the workers get beside ours. */
  readonly env: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly log: Log
}

/** The workers of one machine: they share the OTLP ports, and are replaced when they end. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #planes = new Map<Worker, RemotePlane>()
  #isEnding = false

  /** Resolves when every worker listens; fails with the first one's reason when it cannot. */
  static async start(options: WorkersOptions): Promise<Workers> {
    const workers = new Workers(options)
    const starting = Array.from({ length: options.count }, () => workers.#fork())
    try {
      await Promise.all(starting)
    } catch (error) {
      workers.#isEnding = true
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

  async drain(delayMs: number): Promise<void> {
    this.#isEnding = true
    const workers = [...this.#planes]
    await Promise.allSettled(
      workers.map(async ([worker, plane]) => {
        const exited = once(worker, 'exit')
        await plane.drain(delayMs).catch(() => {})
        worker.disconnect()
        await exited
      }),
    )
  }

  #fork(): Promise<void> {
    const worker = cluster.fork(this.#options.env)
    this.#planes.set(worker, new RemotePlane(worker))
    worker.once('exit', (code, signal) => this.#ended(worker, code, signal))
    return new Promise((resolve, reject) => {
      worker.on('message', (message: unknown) => {
        const { penstock, reason } = message as { penstock?: string; reason?: string }
        if (penstock === 'listening') resolve()
        if (penstock === 'failed') reject(new WorkerFailed(reason ?? 'unknown reason'))
      })
      worker.once('exit', (code, signal) => reject(new WorkerFailed(`a worker ended with ${signal ?? code}`)))
    })
  }

  #ended(worker: Worker, code: number | null, signal: string | null): void {
    this.#planes.delete(worker)
    if (this.#isEnding) return
    const { clock, log } = this.#options
    log.error(
      { event: 'worker.ended', pid: worker.process.pid, code, signal },
      'a worker has ended; another takes its place',
    )
    clock.sleep(RESTART_MS).then(
      () => (this.#isEnding ? undefined : this.#fork().catch(() => {})),
      () => {},
    )
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
    answerQuestions(process, await open())
  } catch (error) {
    process.send?.({ penstock: 'failed', reason: reasonOf(error as Error) })
    return
  }
  process.send?.({ penstock: 'listening' })
  await released
}
