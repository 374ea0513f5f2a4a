import { isDeepStrictEqual } from 'node:util'
import { readFastHead } from '../http1/fast-head.ts'
import type { FuzzTarget } from './coverage-fuzzer.harness.ts'
import { type FrameHead, FrameReader } from './frame-reader.ts'
import { HpackDecoder, HpackError } from './hpack/hpack-decoder.ts'

interface ReadFrame extends FrameHead {
  content: string
}

/** Reads pieces as frames. Returns them with their content, and the code of the error, if there is one. */
function framesIn(pieces: readonly Buffer[]): { frames: ReadFrame[]; code: number | undefined } {
  const frames: ReadFrame[] = []
  let code: number | undefined
  const reader: FrameReader = new FrameReader({
    headRead: () => true,
    frameRead: (head, payload) => void frames.push({ ...head, content: payload.toString('hex') }),
    dataBegan: (head) => void frames.push({ ...head, content: '' }),
    dataRead(content) {
      frames.at(-1)!.content += content.toString('hex')
    },
    dataEnded: () => {},
    failed(failure) {
      code ??= failure
      reader.stop()
    },
  })
  for (const piece of pieces) reader.read(Buffer.from(piece))
  return { frames, code }
}

/** Requires that frames are read in the same way however they are divided, and have the length that they declare. */
const frameReader: FuzzTarget = (input) => {
  const whole = framesIn([input])
  const bytes = framesIn(Array.from(input, (byte) => Buffer.of(byte)))
  if (!isDeepStrictEqual(whole, bytes)) throw new Error('the frames depend on how they are divided')
}

/** Requires that a decoder throws nothing but `HpackError`, keeps its limits, and decodes a block twice in the same way. */
const hpack: FuzzTarget = (input) => {
  const limits = { tableBytes: 4_096, maxListBytes: 4_096, maxFields: 32 }
  const decode = () => {
    const decoder = new HpackDecoder(limits)
    const lists: (readonly string[] | undefined)[] = []
    try {
      // The first byte divides the rest into two blocks.
      const at = 1 + (input[0] ?? 0)
      for (const block of [input.subarray(1, at), input.subarray(at)]) lists.push(decoder.decode(block))
    } catch (error) {
      if (!(error instanceof HpackError)) throw error
    }
    return lists
  }
  const lists = decode()
  if (!isDeepStrictEqual(lists, decode())) throw new Error('two decoders differ')
  for (const list of lists) {
    if (list === undefined) continue
    const bytes = list.reduce((sum, text) => sum + text.length, 16 * list.length)
    if (bytes > limits.maxListBytes || list.length > 2 * limits.maxFields) throw new Error('the list is too long')
  }
}

/** Requires that an accepted head has the narrow form of decision 19. */
const http1Head: FuzzTarget = (input) => {
  const head = readFastHead(input)
  if (head === undefined) return
  const text = input.subarray(0, head.headBytes).toString('latin1')
  const lines = text.split('\r\n')
  const isNarrow = lines.slice(1, -2).every((line) => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e]*$/.test(line))
  const lengths = lines.filter((line) => /^content-length:/i.test(line))
  if (!isNarrow || !text.endsWith('\r\n\r\n') || !lines[0]!.startsWith('POST ')) throw new Error('the form is wider')
  if (lengths.length !== 1 || Number(lengths[0]!.split(':')[1]) !== head.bodyBytes) throw new Error('another length')
  if (/^transfer-encoding:/im.test(text)) throw new Error('a transfer coding')
}

/** The targets by the name of their corpus in fixtures/fuzz. */
export const fuzzTargets: Readonly<Record<string, FuzzTarget>> = {
  'http2-frames': frameReader,
  hpack,
  'http1-head': http1Head,
}
