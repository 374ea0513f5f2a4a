/** The parts of OTLP/JSON that the page reads. Telemetry comes from strangers, so each field may be absent or of another type. */
export interface WireValue {
  readonly stringValue?: unknown
  readonly boolValue?: unknown
  readonly intValue?: unknown
  readonly doubleValue?: unknown
  readonly bytesValue?: unknown
  readonly arrayValue?: { readonly values?: readonly WireValue[] }
  readonly kvlistValue?: { readonly values?: readonly WireAttribute[] }
}

export interface WireAttribute {
  readonly key?: string
  readonly value?: WireValue
}

export interface WireEvent {
  readonly timeUnixNano?: string | number
  readonly name?: string
  readonly attributes?: readonly WireAttribute[]
}

export interface WireLink {
  readonly traceId?: string
  readonly spanId?: string
  readonly attributes?: readonly WireAttribute[]
}

export interface WireSpan {
  readonly spanId?: string
  readonly parentSpanId?: string
  readonly name?: string
  readonly kind?: number
  readonly startTimeUnixNano?: string | number
  readonly endTimeUnixNano?: string | number
  readonly attributes?: readonly WireAttribute[]
  readonly events?: readonly WireEvent[]
  readonly links?: readonly WireLink[]
  readonly status?: { readonly code?: number; readonly message?: string }
}

export interface WireResourceSpans {
  readonly resource?: { readonly attributes?: readonly WireAttribute[] }
  readonly scopeSpans?: readonly {
    readonly scope?: {
      readonly name?: string
      readonly version?: string
      readonly attributes?: readonly WireAttribute[]
    }
    readonly spans?: readonly WireSpan[]
  }[]
}

const MAX_DEPTH = 32

/** Returns a value as text, as the page shows and copies it: strings as they are, arrays joined, maps as `key=value`. */
export function toValueText(value: WireValue | undefined, depth = 0): string {
  if (value === undefined || value === null || depth > MAX_DEPTH) return ''
  const scalar = value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue ?? value.bytesValue
  if (scalar !== undefined && scalar !== null) return String(scalar)
  const items = value.arrayValue?.values
  if (Array.isArray(items)) return items.map((item) => toValueText(item, depth + 1)).join(', ')
  const members = value.kvlistValue?.values
  if (Array.isArray(members))
    return members.map(({ key, value }) => `${key}=${toValueText(value, depth + 1)}`).join(', ')
  return ''
}

/** Returns the number in a value; `undefined` if it has none that is finite. */
export function toNumber(value: WireValue | undefined): number | undefined {
  const text = toValueText(value)
  const number = text === '' ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : undefined
}

/** Returns the texts of an array; `undefined` for other values. */
export function toTextList(value: WireValue | undefined): string[] | undefined {
  const items = value?.arrayValue?.values
  return Array.isArray(items) ? items.map((item) => toValueText(item)) : undefined
}

/** Returns nanoseconds since 1970; `undefined` if the time is not set or not a number of at most 20 digits. */
export function parseNanoseconds(time: unknown): bigint | undefined {
  const text = typeof time === 'number' ? String(time) : time
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) return undefined
  const nanoseconds = BigInt(text)
  return nanoseconds === 0n ? undefined : nanoseconds
}
