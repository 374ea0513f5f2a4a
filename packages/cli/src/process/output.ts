import { OutputClosed, type OutputStream } from './environment.ts'
import { orOutputError } from './system-error.ts'

/**
 * Writes to the stream and resolves when it has accepted the bytes, so that a slow reader slows down the command.
 *
 * @throws {OutputClosed}
 * @throws {OutputError}
 */
export async function write(stream: OutputStream, data: Uint8Array | string): Promise<void> {
  const writing = new Promise<void>((resolve, reject) => {
    stream.write(data, (error) => {
      if (!error) resolve()
      else reject(isClosed(error) ? new OutputClosed('the output was closed') : error)
    })
  })
  await orOutputError('cannot write to standard output', writing)
}

const isClosed = (error: Error): boolean => 'code' in error && /^(EPIPE|ERR_STREAM_DESTROYED)$/.test(String(error.code))

/** Writes a result that does not change what the command has done, so closed output is ignored. */
export async function writeIfOpen(stream: OutputStream, text: string): Promise<void> {
  try {
    await write(stream, text)
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error
  }
}
