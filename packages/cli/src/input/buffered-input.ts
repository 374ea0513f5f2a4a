import { Readable } from 'node:stream'
import type { InputFile } from './input-files.ts'

/**
 * Returns an input that can be read twice: a stream, such as standard input or a pipe, is read to its end and held in
 * memory. A stream longer than `maxBytes` can only be read once, but still from its beginning. Nothing is written to
 * disk, as records may contain secrets.
 */
export async function rereadableInput(file: InputFile, maxBytes: number): Promise<InputFile> {
  if (file.rereadable) return file
  const parts = file.open()[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  const held: Uint8Array[] = []
  let bytes = 0
  while (bytes <= maxBytes) {
    const part = await settled(parts.next())
    if (part.failed) {
      const { isAbort, rethrow } = part.failed
      return { ...file, open: () => Readable.from(replay(isAbort ? [] : held, rethrow), stream) }
    }
    if (part.result.done) return { ...file, rereadable: true, open: () => Readable.from(replay(held), stream) }
    held.push(part.result.value)
    bytes += part.result.value.length
  }
  return {
    ...file,
    open: () =>
      Readable.from(
        replay(held, () => rest(parts)),
        stream,
      ),
  }
}

const stream = { objectMode: false }

type Settled =
  | { readonly failed: undefined; readonly result: IteratorResult<Uint8Array> }
  | { readonly failed: { readonly isAbort: boolean; readonly rethrow: () => never } }

/**
 * Returns the result of a read, or its error as a value. The error is thrown later, when the buffered input is read,
 * because that reader knows how to report it.
 */
async function settled(step: Promise<IteratorResult<Uint8Array>>): Promise<Settled> {
  try {
    return { failed: undefined, result: await step }
  } catch (error) {
    const rethrow = () => {
      throw error
    }
    return { failed: { isAbort: error instanceof Error && error.name === 'AbortError', rethrow } }
  }
}

async function* replay(
  held: readonly Uint8Array[],
  further: () => AsyncIterable<Uint8Array> | undefined = () => undefined,
): AsyncGenerator<Uint8Array> {
  yield* held
  const more = further()
  if (more !== undefined) yield* more
}

async function* rest(parts: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let part = await parts.next(); !part.done; part = await parts.next()) yield part.value
  } finally {
    await parts.return?.()
  }
}
