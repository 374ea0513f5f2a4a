import { setImmediate } from 'node:timers/promises'
import { type Transferable, Worker } from 'node:worker_threads'
import type { FromWorker, ToWorker } from './worker-tasks.ts'

/** The error for a full queue; the caller should retry later. */
export class WorkersBusyError extends Error {
  override readonly name = 'WorkersBusyError'

  constructor() {
    super('Too many tasks are waiting for a worker thread')
  }
}

/** The error for a task that took longer than it may; its thread has been ended. */
export class WorkerTimeoutError extends Error {
  override readonly name = 'WorkerTimeoutError'

  constructor(maxTaskMs: number) {
    super(`A task took longer than ${maxTaskMs} ms, so its worker thread was ended`)
  }
}

export interface WorkerPoolOptions {
  /** The module that calls `serveTasks`. */
  readonly script: URL
  readonly threads: number
  /** The maximum number of tasks that wait for a thread; further tasks are rejected. */
  readonly maxWaiting: number
  /** How long an idle thread is kept. */
  readonly idleMs?: number
  /** The heap limit of each thread. A task that needs more fails, but the process keeps running. */
  readonly maxHeapMegabytes?: number
  /** The stack of each thread, for tasks that recurse deeply. Absent: Node's own size. */
  readonly stackMegabytes?: number
  /**
   * The time that a task may take from when its thread is ready to run it. A thread that exceeds it is ended, and the next
   * task gets a new one. Absent: no limit.
   */
  readonly maxTaskMs?: number
}

interface Job<Task, Part> {
  readonly task: Task
  readonly transfer: readonly Transferable[]
  readonly parts: Part[]
  resolve(parts: Part[]): void
  reject(error: unknown): void
}

const IDLE_MS = 60_000
const MAX_HEAP_MEGABYTES = 1_024

/**
 * Runs slow tasks in worker threads, so that they do not block the event loop. Threads start when they are first needed.
 *
 * A result crosses the thread boundary in parts. Receiving data takes time in proportion to its size, so each part is
 * received in a separate turn of the event loop.
 */
export class WorkerPool<Task, Part> {
  readonly #options: WorkerPoolOptions
  readonly #threads = new Set<Thread<Task, Part>>()
  readonly #waiting: Job<Task, Part>[] = []
  #isClosed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  /**
   * Runs a task and returns the parts of its result.
   *
   * @throws WorkersBusyError; WorkerTimeoutError; an Error if the task throws, or if its thread ends
   */
  run(task: Task, transfer: readonly Transferable[] = []): Promise<Part[]> {
    if (this.#isClosed || this.#waiting.length >= this.#options.maxWaiting) {
      return Promise.reject(new WorkersBusyError())
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, transfer, parts: [], resolve, reject })
      this.#assign()
    })
  }

  /** Ends the threads. Unfinished tasks fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new WorkersBusyError())
    await Promise.all([...this.#threads].map((thread) => thread.end()))
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const thread = [...this.#threads].find(({ isIdle }) => isIdle) ?? this.#start()
      if (thread === undefined) return
      thread.begin(this.#waiting.shift()!)
    }
  }

  #start(): Thread<Task, Part> | undefined {
    if (this.#threads.size >= this.#options.threads) return undefined
    const thread: Thread<Task, Part> = new Thread(this.#options, {
      onIdle: () => this.#assign(),
      onEnd: () => {
        this.#threads.delete(thread)
        if (!this.#isClosed) this.#assign()
      },
    })
    this.#threads.add(thread)
    return thread
  }
}

class Thread<Task, Part> {
  readonly #worker: Worker
  readonly #idleMs: number
  readonly #maxTaskMs: number | undefined
  readonly #onIdle: () => void
  #job: Job<Task, Part> | undefined
  #isReady = false
  #hasEnded = false
  #idleTimer: NodeJS.Timeout | undefined
  #deadlineTimer: NodeJS.Timeout | undefined

  constructor(
    { script, idleMs = IDLE_MS, maxHeapMegabytes = MAX_HEAP_MEGABYTES, stackMegabytes, maxTaskMs }: WorkerPoolOptions,
    { onIdle, onEnd }: { readonly onIdle: () => void; readonly onEnd: () => void },
  ) {
    this.#idleMs = idleMs
    this.#maxTaskMs = maxTaskMs
    this.#onIdle = onIdle
    this.#worker = new Worker(script, {
      resourceLimits: {
        maxOldGenerationSizeMb: maxHeapMegabytes,
        ...(stackMegabytes !== undefined && { stackSizeMb: stackMegabytes }),
      },
    })
    this.#worker.unref()
    this.#worker.on('message', (message: FromWorker<Part>) => void this.#receive(message))
    // The event 'exit' follows and does the rest.
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', (code) => {
      this.#hasEnded = true
      clearTimeout(this.#idleTimer)
      this.#fail(new Error(`A worker thread has ended with code ${code}`))
      onEnd()
    })
  }

  get isIdle(): boolean {
    return this.#job === undefined && !this.#hasEnded
  }

  begin(job: Job<Task, Part>): void {
    clearTimeout(this.#idleTimer)
    this.#job = job
    this.#worker.ref()
    this.#post({ task: job.task }, job.transfer)
    if (this.#isReady) this.#startDeadline()
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  async #receive(message: FromWorker<Part>): Promise<void> {
    if ('isReady' in message) {
      this.#isReady = true
      if (this.#job !== undefined) this.#startDeadline()
      return
    }
    const job = this.#job
    if (job === undefined) return
    if ('part' in message) {
      job.parts.push(message.part)
      await setImmediate()
      if (this.#job === job) this.#post('next')
      return
    }
    this.#becomeIdle()
    if ('failure' in message) job.reject(new Error(`A task failed in its worker thread: ${message.failure}`))
    else job.resolve(job.parts)
    this.#onIdle()
  }

  /** Loading the modules of a thread is not part of its first task, so the time starts when the thread is ready. */
  #startDeadline(): void {
    const maxTaskMs = this.#maxTaskMs
    if (maxTaskMs === undefined) return
    this.#deadlineTimer = setTimeout(() => {
      this.#fail(new WorkerTimeoutError(maxTaskMs))
      void this.#worker.terminate()
    }, maxTaskMs)
  }

  #becomeIdle(): void {
    clearTimeout(this.#deadlineTimer)
    this.#job = undefined
    this.#worker.unref()
    this.#idleTimer = setTimeout(() => {
      // Set before the thread has ended, so that it is not given another task.
      this.#hasEnded = true
      void this.#worker.terminate()
    }, this.#idleMs).unref()
  }

  #fail(error: Error): void {
    clearTimeout(this.#deadlineTimer)
    const job = this.#job
    this.#hasEnded = true
    this.#job = undefined
    job?.reject(error)
  }

  #post(message: ToWorker<Task>, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(message, transfer)
  }
}
