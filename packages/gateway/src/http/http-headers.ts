import type { Encoding } from '@penstock/otlp'
import type { CredentialSource } from '../contract/gateway-config.ts'
import type { RequestHead } from '../contract/request-head.ts'
import { credentialHeaders, readCredential } from './credential.ts'

/** How a header is used: passed on, dropped, or read by the gateway. */
type Use =
  | 'pass'
  | 'drop'
  | 'authority'
  | 'authorization'
  | 'credential'
  | 'connection'
  | 'content-encoding'
  | 'content-length'
  | 'content-type'
  | 'expect'
  | 'host'
  | 'origin'
  | 'request-id'
  | 'transfer-encoding'
  | 'user-agent'

interface Row {
  readonly name: string
  readonly use: Use
}

/**
 * The use of each header name. `x-ingest-*` and other spellings of all these names are dropped too: servers that turn
 * headers into variables read `x.ingest_auth` as `x-ingest-auth`.
 */
const uses: Readonly<Record<string, Use>> = {
  authorization: 'authorization',
  connection: 'connection',
  'content-encoding': 'content-encoding',
  'content-length': 'content-length',
  'content-type': 'content-type',
  expect: 'expect',
  host: 'host',
  origin: 'origin',
  'user-agent': 'user-agent',
  'x-request-id': 'request-id',
  // Hop-by-hop headers (RFC 9110, section 7.6.1). `accept-encoding` is dropped because replies are never compressed.
  'accept-encoding': 'drop',
  'http2-settings': 'drop',
  'keep-alive': 'drop',
  'proxy-authenticate': 'drop',
  'proxy-authorization': 'drop',
  'proxy-connection': 'drop',
  te: 'drop',
  trailer: 'drop',
  'transfer-encoding': 'transfer-encoding',
  upgrade: 'drop',
  // Upstream trusts these headers.
  'x-scope-orgid': 'drop',
}
const RESERVED_PREFIX = 'x-ingest-'

/**
 * The maximum number of header names in the cache. Unauthenticated clients choose the names, so their number and length
 * are bounded.
 */
const MAX_CACHED = 512
const MAX_CACHED_CHARS = 64

interface HeadRules {
  readonly credentialSources: readonly CredentialSource[]
  readonly passCredentialThrough: boolean
}

/** Reads the raw headers of HTTP/1.1 and HTTP/2 requests. */
export class HeadReader {
  readonly #rows = new Map<string, Row>()
  readonly #allowsBare: boolean
  readonly #passesAuthorization: boolean
  readonly #credentialHeaders: readonly string[]

  constructor({ credentialSources, passCredentialThrough }: HeadRules) {
    this.#allowsBare = credentialSources.includes('bare-authorization')
    this.#passesAuthorization = passCredentialThrough
    this.#credentialHeaders = credentialHeaders(credentialSources)
  }

  /** `queryCredential`: the credential in the query, if the query is a configured source. */
  read(rawHeaders: readonly string[], queryCredential: string | undefined): RequestHead {
    const forwarded: string[] = []
    let credentials = queryCredential === undefined ? 0 : 1
    let authorization: string | undefined
    let otherCredential = queryCredential
    let connection: string | undefined
    let contentEncoding = ''
    let contentType: string | undefined
    let contentTypes = 0
    let declaredBytes: number | undefined
    let expectsContinue = false
    let authority: string | undefined
    let host: string | undefined
    let hosts = 0
    let transferCodings = ''
    let origin: string | undefined
    let requestId: string | undefined
    let userAgent: string | undefined
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const row = this.#rowOf(rawHeaders[at]!)
      const value = rawHeaders[at + 1]!
      switch (row.use) {
        case 'drop':
          continue
        case 'authorization':
          authorization = value
          credentials += 1
          if (!this.#passesAuthorization) continue
          break
        case 'credential':
          otherCredential = value
          credentials += 1
          continue
        case 'connection':
          connection = connection === undefined ? value : `${connection},${value}`
          continue
        case 'content-encoding':
          contentEncoding = contentEncoding === '' ? value : `${contentEncoding}, ${value}`
          continue
        case 'content-length':
          declaredBytes = Number(value)
          continue
        case 'content-type':
          contentType = value
          contentTypes += 1
          continue
        case 'expect':
          expectsContinue = value.toLowerCase() === '100-continue'
          continue
        case 'authority':
          authority = value
          continue
        case 'host':
          host = value
          hosts += 1
          continue
        case 'origin':
          origin = value
          break
        case 'request-id':
          requestId = value
          break
        case 'transfer-encoding':
          transferCodings += `${transferCodings && ', '}${value.trim().toLowerCase()}`
          continue
        case 'user-agent':
          userAgent = value
          break
        case 'pass':
          break
      }
      forwarded.push(row.name, value)
    }
    // RFC 9113 section 8.3.1: both must name the same server.
    if (authority !== undefined && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) hosts += 1
    const otherFrom = queryCredential === undefined ? 'header' : 'query'
    return {
      forwarded: connection === undefined ? forwarded : withoutNamed(forwarded, connection),
      credential: readCredential(credentials, authorization, otherCredential, otherFrom, this.#allowsBare),
      encoding: contentTypes === 1 ? encodingOf(contentType!) : undefined,
      contentEncoding: contentEncoding === '' ? '' : codingOf(contentEncoding),
      declaredBytes,
      expectsContinue,
      hosts,
      transferCodings,
      origin,
      requestId,
      userAgent,
    }
  }

  #rowOf(spelling: string): Row {
    const known = this.#rows.get(spelling)
    if (known !== undefined) return known
    const name = spelling.toLowerCase()
    const row = { name, use: this.#useOf(name) }
    if (this.#rows.size < MAX_CACHED && name.length <= MAX_CACHED_CHARS) this.#rows.set(spelling, row)
    return row
  }

  #useOf(name: string): Use {
    // HTTP/2 pseudo-headers begin with a colon.
    if (name.startsWith(':')) return name === ':authority' ? 'authority' : 'drop'
    if (this.#credentialHeaders.includes(name)) return 'credential'
    const known = Object.hasOwn(uses, name) ? uses[name] : undefined
    if (known !== undefined) return known
    const dashed = name.replaceAll(/[^a-z0-9]/g, '-')
    if (dashed.startsWith(RESERVED_PREFIX)) return 'drop'
    if (dashed === name) return 'pass'
    return Object.hasOwn(uses, dashed) || this.#credentialHeaders.includes(dashed) ? 'drop' : 'pass'
  }
}

/** Returns the encoding of a content type; `undefined` if OTLP does not use its media type (P-4). */
export function encodingOf(contentType: string): Encoding | undefined {
  if (contentType === 'application/x-protobuf') return 'protobuf'
  if (contentType === 'application/json') return 'json'
  const end = contentType.indexOf(';')
  const mediaType = (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
  if (mediaType === 'application/x-protobuf') return 'protobuf'
  return mediaType === 'application/json' ? 'json' : undefined
}

function codingOf(contentEncoding: string): string {
  const coding = contentEncoding.trim().toLowerCase()
  if (coding === 'identity') return ''
  return coding === 'x-gzip' ? 'gzip' : coding
}

/** Removes the headers that are listed in `Connection`, which are hop-by-hop headers. */
function withoutNamed(headers: readonly string[], connection: string): readonly string[] {
  if (connection === 'keep-alive' || connection === 'close' || connection === 'Keep-Alive') return headers
  const named = new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    if (!named.has(headers[at]!)) kept.push(headers[at]!, headers[at + 1]!)
  }
  return kept
}
