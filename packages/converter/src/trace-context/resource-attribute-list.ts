import { TraceContextError } from './trace-context-error.ts'

/** The longest list that is read. One environment variable may have 128 KiB on Linux. */
const maxListBytes = 65_536
const variable = 'OTEL_RESOURCE_ATTRIBUTES'

/**
 * Returns the value of `OTEL_RESOURCE_ATTRIBUTES`: the attributes that the variable has already, then `attributes`. If
 * both contain a key, the value from `attributes` is used, because an earlier job's value would be wrong.
 *
 * Keys and values are percent-encoded, so that the result needs no quotes in a shell or a dotenv file.
 *
 * @throws {TraceContextError} for an existing value that SDKs would discard
 * @see https://opentelemetry.io/docs/specs/otel/resource/sdk/
 */
export function resourceAttributeList(existing: string | undefined, attributes: ReadonlyMap<string, string>): string {
  const merged = new Map([...parseList(existing ?? ''), ...attributes])
  return [...merged].map(([key, value]) => `${encode(key)}=${encode(value)}`).join(',')
}

function parseList(list: string): [string, string][] {
  if (Buffer.byteLength(list) > maxListBytes)
    throw new TraceContextError(`${variable}: must have at most ${maxListBytes} bytes`)
  return list
    .split(',')
    .filter((entry) => entry.trim() !== '')
    .map((entry) => {
      const parts = entry.split('=')
      const [key = '', value = ''] = parts.map((part) => decode(part.trim()))
      if (parts.length !== 2 || key === '')
        throw new TraceContextError(`${variable}: must be key=value pairs with commas between`)
      return [key, value]
    })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new TraceContextError(`${variable}: must be percent-encoded`)
  }
}

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
