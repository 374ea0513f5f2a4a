import { servedPath } from './fast-reading.ts'

/** Heads as exporters send them, without their Content-Length. */
const heads: readonly (readonly string[])[] = [
  ['Host: gateway:4318', 'User-Agent: OTel-OTLP-Exporter-Go/1.38', 'Authorization: Bearer t', 'Accept-Encoding: gzip'],
  ['Accept-Encoding: gzip, deflate', 'Accept: */*', 'Connection: keep-alive', 'authorization: Bearer t', 'Host: g'],
  ['Content-Type: application/x-protobuf', 'User-Agent: OTel-OTLP-Exporter-JavaScript/0.223.0', 'Host: localhost:4318'],
  [
    'host: [::1]:4318',
    'connection: close',
    'content-type: application/json',
    'traceparent: 00-0af7651916cd43dd-b7ad-01',
  ],
  ['Host:gateway', 'X-Blanks: \t a b \t'],
]

const bodies: readonly string[] = [
  '',
  '\n\x08\x12\x06abcdef',
  '{"resourceSpans":[]}',
  '\r\n',
  '\x00\xff\x80',
  `POST ${servedPath} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`,
  '5\r\nabcde\r\n0\r\n\r\n',
]

const lines: readonly string[] = [
  'Transfer-Encoding: chunked',
  'transfer-encoding: identity',
  'Transfer-Encoding : chunked',
  'Transfer_Encoding: chunked',
  'Expect: 100-continue',
  'Upgrade: h2c',
  'Connection: upgrade',
  'Connection: close',
  'Connection: keep-alive, TE',
  'Proxy-Connection: close',
  'Keep-Alive: timeout=5',
  'Trailer: x-a',
  'TE: trailers',
  'Content-Length: 5',
  'Content-Length: 0',
  'content-length: 3, 3',
  'Content-Length : 3',
  'Content-Length:\t3',
  'Host: b',
  ' folded',
  '\tfolded: x',
  ': nameless',
  'x-a',
  'X-Empty:',
  'X-Long: '.padEnd(300, 'a'),
  ...Array.from({ length: 3 }, (_, index) => `X-${index}: ${index}`),
]

/** Bytes that end, separate or continue something in HTTP, and bytes that are not allowed in it. */
const odd: readonly string[] = [
  ...'\r\n\0\t :;,=/?%0123456789aZ_-"\\\x0b\x0c\x7f\x80\x85\xa0\xff',
  '\r\n',
  '\n\n',
  '\r\r\n',
]

const lengths: readonly ((length: number) => string)[] = [
  (length) => String(length + 1),
  (length) => String(length - 1),
  (length) => `0${length}`,
  (length) => `+${length}`,
  (length) => `-${length}`,
  (length) => `0x${length.toString(16)}`,
  (length) => `${length}.0`,
  (length) => `${length} `,
  (length) => `${length} ${length}`,
  (length) => `${length},${length}`,
  () => '',
  () => '99999999999999999999',
  () => '18446744073709551616',
  () => '999999999999999',
]

const requestLines: readonly string[] = [
  `POST ${servedPath} HTTP/1.0`,
  `POST ${servedPath} HTTP/1.2`,
  `POST ${servedPath} http/1.1`,
  `POST ${servedPath}  HTTP/1.1`,
  `POST  ${servedPath} HTTP/1.1`,
  `POST ${servedPath}`,
  `post ${servedPath} HTTP/1.1`,
  `POST ${servedPath}? HTTP/1.1`,
  `POST ${servedPath}#a HTTP/1.1`,
  `POST /v1/%74races HTTP/1.1`,
  `POST http://gateway${servedPath} HTTP/1.1`,
  `GET ${servedPath} HTTP/1.1`,
  `PUT ${servedPath} HTTP/1.1`,
  'CONNECT gateway:443 HTTP/1.1',
  'PRI * HTTP/2.0',
  `\r\nPOST ${servedPath} HTTP/1.1`,
]

/** Makes well-formed streams of one to four requests, and edits most of them. The same numbers make the same streams. */
export class MutatedStreams {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  next(): Buffer {
    let stream = ''
    const requests = this.below(2) === 0 ? 1 : 1 + this.below(4)
    // Most clients repeat their head.
    const repeated = this.below(2) === 0 ? this.#pick(heads) : undefined
    for (let request = 0; request < requests; request += 1) stream += this.#request(repeated ?? this.#pick(heads))
    for (let edits = this.below(3); edits > 0; edits -= 1) stream = this.#edited(stream)
    return Buffer.from(stream, 'latin1')
  }

  /** Returns an integer from 0 to `bound` - 1. */
  below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  #request(head: readonly string[]): string {
    const body = this.#pick(bodies)
    const all = [...head]
    let requestLine = `POST ${servedPath} HTTP/1.1`
    let length = String(body.length)
    let sent = body
    if (this.below(4) === 0) {
      switch (this.below(6)) {
        case 0:
          length = this.#pick(lengths)(body.length)
          break
        case 1:
          requestLine = this.#pick(requestLines)
          break
        case 2:
          all.splice(this.below(all.length + 1), 0, this.#pick(lines))
          break
        case 3: {
          const from = this.below(all.length)
          all.splice(this.below(all.length + 1), 0, all[from]!)
          break
        }
        case 4: {
          const at = this.below(all.length)
          all[at] = this.below(2) === 0 ? all[at]!.toUpperCase() : all[at]!.toLowerCase()
          break
        }
        case 5:
          all.push('Transfer-Encoding: chunked')
          sent = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
          break
      }
    }
    all.splice(this.below(all.length + 1), 0, `${this.below(2) === 0 ? 'Content-Length' : 'content-length'}: ${length}`)
    return `${requestLine}\r\n${all.join('\r\n')}\r\n\r\n${sent}`
  }

  #edited(stream: string): string {
    const at = this.below(stream.length)
    const rest = stream.slice(at)
    switch (this.below(7)) {
      case 0:
        return stream.slice(0, at) + this.#pick(odd) + rest
      case 1:
        return stream.slice(0, at) + this.#pick(odd) + rest.slice(1)
      case 2:
        return stream.slice(0, at) + rest.slice(1 + this.below(3))
      case 3:
        return stream.slice(0, at) + String.fromCharCode(this.below(256)) + rest.slice(1)
      case 4: {
        const lineEnd = stream.indexOf('\r\n', at)
        return lineEnd === -1 ? stream : stream.slice(0, lineEnd) + this.#pick(odd) + stream.slice(lineEnd + 2)
      }
      case 5: {
        const colon = stream.indexOf(':', at)
        return colon === -1 ? stream : stream.slice(0, colon) + this.#pick(odd) + stream.slice(colon)
      }
      default:
        return stream.slice(0, at)
    }
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!
  }
}
