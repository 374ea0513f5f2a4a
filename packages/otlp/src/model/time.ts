/** A time of the OpenTelemetry JavaScript API: whole seconds, and the remaining nanoseconds. */
export type HrTime = [seconds: number, nanos: number]

const NANOS_PER_SECOND = 1_000_000_000n

/** Splits nanoseconds into seconds and nanoseconds. Before 1970 the seconds are negative and the nanoseconds are not. */
export function toHrTime(nanoseconds: bigint): HrTime {
  const nanos = ((nanoseconds % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND
  return [Number((nanoseconds - nanos) / NANOS_PER_SECOND), Number(nanos)]
}

export function fromHrTime([seconds, nanos]: HrTime): bigint {
  return BigInt(seconds) * NANOS_PER_SECOND + BigInt(nanos)
}
