import { parentPort, workerData } from 'node:worker_threads'
import type { Log } from '@penstock/runtime'

/** The messages to a thread from the thread that started it. */
export type ToThread<Request> =
  | { readonly kind: 'request'; readonly id: number; readonly request: Request }
  | { readonly kind: 'close' }

/** The messages from a thread to the thread that started it. */
export type FromThread<Reply> =
  | { readonly kind: 'opened' }
  | { readonly kind: 'reply'; readonly id: number; readonly reply: Reply }
  | { readonly kind: 'failure'; readonly id: number; readonly text: string; readonly isUnavailable: boolean }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly fields: object; readonly text: string }

export type LogLevel = keyof Log

interface ThreadWork<Request, Reply> {
  answer(request: Request): Promise<Reply>
  /** Returns whether a request failed because its database cannot be used at the moment. */
  isUnavailable(error: unknown): boolean
  /** Returns the memory that moves with a reply. */
  transferred(reply: Reply): readonly ArrayBuffer[]
  /** Resolves when all work in progress is done. */
  close(): Promise<void>
}

/** Opens the resources of a thread, and answers requests until the message `close`. Throws on the main thread. */
export function serveThread<Data, Request, Reply>(open: (data: Data, log: Log) => ThreadWork<Request, Reply>): void {
  const port = parentPort
  if (port === null) throw new Error('This file must be started as a worker thread')
  const post = (message: FromThread<Reply>, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(message, [...transfer])
  const work = open(workerData as Data, logThrough(post))
  port.on('message', async (message: ToThread<Request>) => {
    if (message.kind === 'close') {
      await work.close()
      port.close()
      return
    }
    const { id, request } = message
    try {
      const reply = await work.answer(request)
      post({ kind: 'reply', id, reply }, work.transferred(reply))
    } catch (error) {
      post({ kind: 'failure', id, text: String(error), isUnavailable: work.isUnavailable(error) })
    }
  })
  post({ kind: 'opened' })
}

/** Returns a log that sends its lines to the thread that started this one. */
function logThrough(post: (message: FromThread<never>) => void): Log {
  const at = (level: LogLevel) => (fields: object, text: string) => post({ kind: 'log', level, fields, text })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } as Log
}
