import type { RequestHead } from '../contract/request-head.ts'

/** The header fields of a request over HTTP/2 that decide where it goes. */
export interface Http2Head {
  /** Alternating names and values, pseudo-headers included, as in `rawHeaders` of node:http2. */
  readonly rawHeaders: readonly string[]
  readonly method: string
  /** '' for CONNECT. */
  readonly path: string
  readonly contentType: string | undefined
  readonly grpcTimeout: string | undefined
  readonly grpcEncoding: string | undefined
  readonly contentLength: number | undefined
  /** The interpretation of the headers, kept for a head that further requests of the connection repeat. */
  interpreted: RequestHead | undefined
}

/** The pseudo-headers of a request, as bits. */
const pseudoHeaders: Readonly<Record<string, number>> = Object.assign(Object.create(null), {
  ':method': 1,
  ':scheme': 2,
  ':path': 4,
  ':authority': 8,
})
const REQUIRED = 1 | 2 | 4
const AUTHORITY = 8
const REQUIRED_OF_CONNECT = 1 | AUTHORITY

/** Returns whether a value is a path; `*` means the server as a whole. */
const isPath = (path: string): boolean => (path.startsWith('/') || path === '*') && !path.includes(' ')

/** Headers that belong to a connection of HTTP/1.1. */
const forbidden: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

const COLON = 0x3a
const SPACE = 0x20
const TAB = 0x09

const IN_NAME = 1
const IN_VALUE = 2
const byteClasses = classesOfBytes()

/**
 * Returns the head with these header fields, or `undefined` if the request is malformed.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113.html#section-8.2
 */
export function readHttp2Head(rawHeaders: readonly string[]): Http2Head | undefined {
  let seen = 0
  let hasHost = false
  let isAfterPseudoHeaders = false
  let method = ''
  let path = ''
  let contentType: string | undefined
  let grpcTimeout: string | undefined
  let grpcEncoding: string | undefined
  let contentLength: number | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    const value = rawHeaders[at + 1]!
    if (!isValue(value)) return undefined
    if (name.charCodeAt(0) === COLON) {
      const bit = pseudoHeaders[name]
      if (bit === undefined || (seen & bit) !== 0 || isAfterPseudoHeaders) return undefined
      seen |= bit
      if (name === ':method') method = value
      else if (name === ':path') path = value
      continue
    }
    isAfterPseudoHeaders = true
    if (!isName(name) || forbidden.has(name)) return undefined
    switch (name) {
      case 'te':
        if (value.toLowerCase() !== 'trailers') return undefined
        break
      case 'content-length':
        if (contentLength !== undefined || !/^\d{1,15}$/.test(value)) return undefined
        contentLength = Number(value)
        break
      case 'content-type':
        contentType ??= value
        break
      case 'host':
        hasHost = true
        break
      case 'grpc-timeout':
        grpcTimeout ??= value
        break
      case 'grpc-encoding':
        grpcEncoding ??= value
        break
    }
  }
  const isComplete =
    method === 'CONNECT'
      ? seen === REQUIRED_OF_CONNECT
      : (seen & REQUIRED) === REQUIRED && isPath(path) && ((seen & AUTHORITY) !== 0 || hasHost)
  if (!isComplete) return undefined
  return { rawHeaders, method, path, contentType, grpcTimeout, grpcEncoding, contentLength, interpreted: undefined }
}

/**
 * Returns the head with these fields if they differ from those of `head` in nothing but the value of `grpc-timeout`, which gRPC
 * clients compute for each call; otherwise `undefined`.
 */
export function withOtherTimeout(head: Http2Head, rawHeaders: readonly string[]): Http2Head | undefined {
  const { rawHeaders: before } = head
  if (rawHeaders.length !== before.length) return undefined
  let timeoutAt = -1
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at] !== before[at]) return undefined
    if (rawHeaders[at + 1] === before[at + 1]) continue
    if (timeoutAt !== -1 || rawHeaders[at] !== 'grpc-timeout') return undefined
    timeoutAt = at + 1
  }
  if (timeoutAt === -1) return head
  // Of several timeouts the first one counts.
  if (rawHeaders.indexOf('grpc-timeout') !== timeoutAt - 1) return undefined
  const grpcTimeout = rawHeaders[timeoutAt]!
  return isValue(grpcTimeout) ? { ...head, rawHeaders, grpcTimeout } : undefined
}

/** Returns whether these fields can follow the body of a request. They are not used, but a malformed request is refused. */
export function areTrailers(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (!isName(name) || forbidden.has(name) || name === 'content-length' || !isValue(rawHeaders[at + 1]!)) return false
  }
  return true
}

function isName(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) if ((byteClasses[name.charCodeAt(at)]! & IN_NAME) === 0) return false
  return name.length > 0
}

function isValue(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) if ((byteClasses[value.charCodeAt(at)]! & IN_VALUE) === 0) return false
  return !isBlank(value.charCodeAt(0)) && !isBlank(value.charCodeAt(value.length - 1))
}

const isBlank = (code: number): boolean => code === SPACE || code === TAB

function classesOfBytes(): Uint8Array {
  const table = new Uint8Array(256)
  // The token characters of RFC 9110, section 5.6.2, without capital letters.
  for (const char of "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") table[char.charCodeAt(0)]! |= IN_NAME
  for (let byte = SPACE; byte < 256; byte += 1) if (byte !== 0x7f) table[byte]! |= IN_VALUE
  table[TAB]! |= IN_VALUE
  return table
}

/** Reads the heads of one connection. */
export class RequestHeads {
  /** The two heads that were read last. A client repeats its head, and the decoder then returns the same array. */
  #lastHead: Http2Head | undefined
  #headBefore: Http2Head | undefined

  /** Returns `undefined` if the request is malformed. */
  read(fields: readonly string[]): Http2Head | undefined {
    if (this.#lastHead?.rawHeaders === fields) return this.#lastHead
    if (this.#headBefore?.rawHeaders === fields) return this.#headBefore
    const repeated = this.#lastHead && withOtherTimeout(this.#lastHead, fields)
    if (repeated !== undefined) return repeated
    const head = readHttp2Head(fields)
    if (head !== undefined) {
      this.#headBefore = this.#lastHead
      this.#lastHead = head
    }
    return head
  }
}
