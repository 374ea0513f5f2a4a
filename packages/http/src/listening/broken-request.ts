import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { HeadProblem } from './request-head.ts'

/** The error that Node's HTTP parser reports with the event `clientError`. */
export interface BrokenRequest extends NodeJS.ErrnoException {
  /** The bytes that the parser read last. */
  readonly rawPacket?: Buffer
}

/** The format of error responses that the listener sends before the API sees the request. */
export interface RefusalForm {
  readonly contentType: string
  body(problem: HeadProblem): string
}

export const plainRefusal: RefusalForm = {
  contentType: 'text/plain; charset=utf-8',
  body: ({ message }) => `${message}\n`,
}

const problems: Readonly<Record<string, HeadProblem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The chunk extensions are too long.' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are too long.' },
}
const targetTooLong: HeadProblem = { status: 414, message: 'The request target is too long.' }
const malformed: HeadProblem = { status: 400, message: 'This is not an HTTP/1.1 request.' }

/**
 * Returns the status and message for a request that Node could not parse. The status is Node's, except 414 for a first
 * line that is too long: Node reports that as a header overflow.
 */
export function brokenRequestProblem({ code = '', rawPacket }: BrokenRequest): HeadProblem {
  const packet = rawPacket?.toString('latin1') ?? ''
  const firstLine = packet.split('\r', 1)[0]!
  const isTooLong = firstLine.length === packet.length || firstLine.length > maxHeaderSize
  if (code === 'HPE_HEADER_OVERFLOW' && isTooLong && /^[A-Z]+ /.test(firstLine)) return targetTooLong
  return problems[code] ?? malformed
}

export function refusalHeaders(body: string, { contentType }: RefusalForm): Readonly<Record<string, string>> {
  return {
    Connection: 'close',
    'Content-Type': contentType,
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  }
}

/** Returns a complete HTTP/1.1 response as text. */
export function refusalText(problem: HeadProblem, form: RefusalForm, more: Readonly<Record<string, string>> = {}) {
  const body = form.body(problem)
  const headers = Object.entries({ ...refusalHeaders(body, form), ...more }).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...headers, '', body].join('\r\n')
}
