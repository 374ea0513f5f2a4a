/** The longest list that is read, in bytes: half of what Linux allows for one environment variable. */
const maxListBytes = 65_536

/** A new value of `OTEL_RESOURCE_ATTRIBUTES`. */
export interface ResourceAttributeList {
  readonly list: string
  /** The reason why the existing value was left out of the list. It does not repeat the value. */
  readonly malformed: string | undefined
}

/**
 * Returns `attributes` added to the existing value of `OTEL_RESOURCE_ATTRIBUTES`. An attribute that is in both has the
 * value from `attributes`, so that it agrees with the export. A malformed value is replaced: SDKs would discard all of it.
 *
 * Keys and values are percent-encoded, so that the result needs no quotes in a shell or a dotenv file.
 *
 * @see https://opentelemetry.io/docs/specs/otel/resource/sdk/
 */
export function resourceAttributeList(
  existing: string | undefined,
  attributes: ReadonlyMap<string, string>,
): ResourceAttributeList {
  const { entries, malformed } = parseResourceAttributes(existing ?? '')
  const merged = new Map([...entries, ...attributes])
  const list = [...merged].map(([key, value]) => `${percentEncode(key)}=${percentEncode(value)}`).join(',')
  return { list, malformed }
}

export interface ParsedResourceAttributes {
  /** Keys and values. Empty if the list is malformed. */
  readonly entries: readonly (readonly [string, string])[]
  /** The reason why the list cannot be read. It does not repeat the list. */
  readonly malformed?: string
}

/** Reads a value of `OTEL_RESOURCE_ATTRIBUTES`. */
export function parseResourceAttributes(list: string): ParsedResourceAttributes {
  if (Buffer.byteLength(list) > maxListBytes) return malformedList(`must have at most ${maxListBytes} bytes`)
  const entries: [string, string][] = []
  for (const entry of list.split(',').filter((each) => each.trim() !== '')) {
    const parts = entry.split('=').map((part) => percentDecode(part.trim()))
    const [key, value] = parts
    if (parts.length !== 2 || key === '') return malformedList('must be key=value pairs separated by commas')
    if (key === undefined || value === undefined) return malformedList('must be percent-encoded')
    entries.push([key, value])
  }
  return { entries }
}

const malformedList = (malformed: string): ParsedResourceAttributes => ({ entries: [], malformed })

/** Returns the decoded text; `undefined` if it is not percent-encoded UTF-8. */
function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the text with all but `A-Z a-z 0-9 . _ ~ / : -` percent-encoded. `/` and `:` stay so that URLs and refs do not
 * get longer: some SDKs limit the length of the encoded text.
 */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
    .replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
