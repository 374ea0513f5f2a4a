import { EndpointError } from './endpoint-url.ts'

/** Headers that are sent in addition to those of OTLP, by name in lower case. Their values are secrets. */
export type RequestHeaders = Readonly<Record<string, string>>

const MAX_HEADERS = 32
const MAX_VALUE_LENGTH = 8_192
/** Headers that the client sets itself, or that describe the connection. */
const reservedNames: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
const valuePattern = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/

/**
 * Returns headers with names in lower case.
 *
 * @throws EndpointError without a value, which may be a secret
 */
export function requestHeaders(entries: Iterable<readonly [name: string, value: string]>): RequestHeaders {
  const headers = new Map<string, string>()
  for (const [given, value] of entries) {
    const name = given.toLowerCase()
    if (!namePattern.test(name)) throw new EndpointError('a header has a name with invalid characters')
    if (reservedNames.has(name)) throw new EndpointError(`the header ${name} is set by the request itself`)
    if (headers.has(name)) throw new EndpointError(`the header ${name} is given twice`)
    if (value.length > MAX_VALUE_LENGTH || !valuePattern.test(value)) {
      throw new EndpointError(
        `the value of the header ${name} must have 1 to ${MAX_VALUE_LENGTH} printable ASCII characters, without blanks at either end`,
      )
    }
    headers.set(name, value)
  }
  if (headers.size > MAX_HEADERS) throw new EndpointError(`there may be at most ${MAX_HEADERS} headers`)
  return Object.fromEntries(headers)
}

/**
 * Reads a list of headers as `name=value,name=value`, with percent-encoded values.
 *
 * @see OpenTelemetry specification, "Specifying headers via environment variables"
 * @throws EndpointError without a value
 */
export function parseHeaderList(text: string): RequestHeaders {
  const members = text.split(',').filter((member) => member.trim() !== '')
  return requestHeaders(
    members.map((member, index) => {
      const at = member.indexOf('=')
      if (at < 1) throw new EndpointError(`header ${index + 1} of the list has no =`)
      const name = member.slice(0, at).trim()
      try {
        return [name, decodeURIComponent(member.slice(at + 1).trim())]
      } catch {
        throw new EndpointError(`header ${index + 1} of the list is not percent-encoded correctly`)
      }
    }),
  )
}

/** Returns what must not appear in messages: the values, and credentials without their scheme. Longest first. */
export const secretsIn = (headers: RequestHeaders): string[] =>
  Object.values(headers)
    .flatMap((value) => [value, value.replace(/^[A-Za-z-]+ +/, '')])
    .toSorted((a, b) => b.length - a.length)
