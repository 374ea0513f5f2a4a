import type { Clock } from '@penstock/runtime'
import type { IngestPlane } from './ingest-plane.ts'

/** One end of a channel between two processes. `process` and a cluster worker are such ends. */
export interface Channel {
  send?(message: object): unknown
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
}

type PlaneMethod = keyof IngestPlane

interface PlaneRequest {
  readonly penstock: 'request'
  readonly id: number
  readonly method: PlaneMethod
  /** The argument of `drain`. */
  readonly delayMs: number
}

interface PlaneReply {
  readonly penstock: 'reply'
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

/** The timeout of a call, so that a worker that hangs does not hang its caller. */
const REPLY_TIMEOUT_MS = 5_000

/** A plane in another process. Calls fail if the process has ended or does not reply within 5 s. */
export class RemotePlane implements IngestPlane {
  readonly #channel: Channel
  readonly #clock: Clock
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  #lastId = 0
  #isOpen = true

  constructor(channel: Channel, clock: Clock) {
    this.#channel = channel
    this.#clock = clock
    channel.on('message', (message) => {
      if (isPlaneReply(message)) this.#settle(message)
    })
    channel.on('disconnect', () => {
      this.#isOpen = false
      for (const { reject } of this.#waiting.values()) reject(new Error('the worker has ended'))
      this.#waiting.clear()
    })
  }

  async refresh(): Promise<void> {
    await this.#call('refresh', REPLY_TIMEOUT_MS)
  }

  report(): ReturnType<IngestPlane['report']> {
    return this.#call('report', REPLY_TIMEOUT_MS) as ReturnType<IngestPlane['report']>
  }

  /**
   * Drains without a timeout. The worker has its own deadline; a caller that cannot rely on that deadline needs one of
   * its own.
   */
  async drain(delayMs: number): Promise<void> {
    await this.#call('drain', undefined, delayMs)
  }

  async #call(method: PlaneMethod, timeoutMs: number | undefined, delayMs = 0): Promise<unknown> {
    if (!this.#isOpen) throw new Error('the worker has ended')
    this.#lastId += 1
    const id = this.#lastId
    const answered = new AbortController()
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject })
        if (timeoutMs !== undefined) {
          this.#clock.sleep(timeoutMs, answered.signal).then(
            () => reject(new Error(`no ${method} in time`)),
            () => {},
          )
        }
        this.#channel.send?.({ penstock: 'request', id, method, delayMs } satisfies PlaneRequest)
      })
    } finally {
      answered.abort()
      this.#waiting.delete(id)
    }
  }

  #settle({ id, value, error }: PlaneReply): void {
    const waiting = this.#waiting.get(id)
    if (error === undefined) waiting?.resolve(value)
    else waiting?.reject(new Error(error))
  }
}

/** Serves calls from the process at the other end, in the worker. */
export function servePlane(channel: Channel, plane: IngestPlane): void {
  channel.on('message', (message) => {
    if (!isPlaneRequest(message)) return
    const { id, method, delayMs } = message
    const reply = (rest: Pick<PlaneReply, 'value' | 'error'>) => channel.send?.({ penstock: 'reply', id, ...rest })
    plane[method](delayMs).then(
      (value) => reply({ value }),
      (error: Error) => reply({ error: error.message }),
    )
  })
}

function isPlaneReply(message: unknown): message is PlaneReply {
  return (message as Partial<PlaneReply> | null)?.penstock === 'reply'
}

function isPlaneRequest(message: unknown): message is PlaneRequest {
  return (message as Partial<PlaneRequest> | null)?.penstock === 'request'
}
