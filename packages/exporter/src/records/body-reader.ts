import { extname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { WorkerPool } from '@penstock/runtime'
import { type BodyPart, type BodyTask, joinBody } from './body-parts.ts'
import { type BodyContext, type ReceivedBody, readBody } from './received-body.ts'
import { utf8Text } from './utf8-text.ts'

/** The extension of this file: `.ts` if the sources run directly, `.js` if they are built. */
const ownExtension = extname(import.meta.url)
/**
 * The length up to which a body is read on the event loop: that takes a few milliseconds, which is less than a thread
 * boundary costs.
 */
const INLINE_BYTES = 64 * 1024
const THREADS = 1
/** How many large bodies may wait, each of up to 25 MiB. */
const MAX_WAITING = 8

/**
 * Reads the bodies of records and hooks: small ones at once, large ones in a worker thread, because reading 25 MB takes
 * seconds.
 */
export class BodyReader {
  readonly #pool = new WorkerPool<BodyTask, BodyPart>({
    script: new URL(`./body-worker${ownExtension}`, import.meta.url),
    threads: THREADS,
    maxWaiting: MAX_WAITING,
  })

  /**
   * Returns the body, as `readBody` does. A large `Uint8Array` that does not share its buffer is moved to the thread,
   * and is empty afterwards.
   *
   * @throws RecordError; WorkersBusyError if too many large bodies wait
   */
  async read(source: string | Uint8Array, context: BodyContext = {}): Promise<ReceivedBody> {
    if (source.length <= INLINE_BYTES) return readBody(typeof source === 'string' ? source : utf8Text(source), context)
    const isOwn = typeof source !== 'string' && source.byteLength === source.buffer.byteLength
    const parts = await this.#pool.run({ source, context }, isOwn ? [source.buffer as ArrayBuffer] : [])
    const body = joinBody(parts)
    await setImmediate()
    return context.forge === undefined ? body : { ...body, forge: context.forge }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
