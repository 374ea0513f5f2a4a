import { TestReportError } from './report.ts'

/** The number of bytes at the start of a report in which its encoding is looked for. */
const HEAD_BYTES = 256

const byteOrderMarks: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
  // The first character of XML is `<`, so two bytes show the byte order even without a mark.
  ['utf-16le', [0x3c, 0x00]],
  ['utf-16be', [0x00, 0x3c]],
]

/**
 * Decodes the bytes of an XML text, in the encoding of its byte order mark, else of its declaration, else UTF-8. Malformed
 * bytes become U+FFFD, because test output often has some.
 */
export class ByteDecoder {
  #head = Buffer.alloc(0)
  #decoder: InstanceType<typeof TextDecoder> | undefined

  /** @throws {TestReportError} if the encoding is unknown */
  decode(bytes: Uint8Array): string {
    if (this.#decoder !== undefined) return this.#decoder.decode(bytes, { stream: true })
    this.#head = Buffer.concat([this.#head, bytes])
    return this.#head.length < HEAD_BYTES ? '' : this.#decodeHead()
  }

  /** @throws {TestReportError} if the encoding is unknown */
  end(): string {
    const head = this.#decoder === undefined ? this.#decodeHead() : ''
    return head + this.#decoder!.decode()
  }

  #decodeHead(): string {
    this.#decoder = newDecoder(encodingOf(this.#head))
    return this.#decoder.decode(this.#head, { stream: true })
  }
}

function encodingOf(head: Uint8Array): string {
  const marked = byteOrderMarks.find(([, mark]) => mark.every((byte, at) => head[at] === byte))
  if (marked !== undefined) return marked[0]
  const start = Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1')
  const declared = /^<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)["']/.exec(start)?.[1]?.trim()
  // Bytes that show `<?xml` are not UTF-16, even if the text was UTF-16 before something converted it.
  return declared === undefined || /^utf-?16/i.test(declared) ? 'utf-8' : declared
}

function newDecoder(encoding: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(encoding)
  } catch {
    const name = /^[\w.:-]{1,40}$/.test(encoding) ? encoding : 'of its declaration'
    throw new TestReportError(`the encoding ${name} is unknown; write the report in UTF-8`)
  }
}
