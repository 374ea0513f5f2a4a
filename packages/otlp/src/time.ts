/** A time as the OpenTelemetry JavaScript API has it: whole seconds and the nanoseconds beyond them. */
export type HrTime = [seconds: number, nanos: number]

const NANOS_PER_SECOND = 1_000_000_000n

/** Splits nanoseconds; before 1970 the seconds are negative and the nanoseconds still count upwards. */
export function toHrTime(nanoseconds: bigint): HrTime {
  const nanos = ((nanoseconds % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND
  return [Number((nanoseconds - nanos) / NANOS_PER_SECOND), Number(nanos)]
}

export function fromHrTime([seconds, nanos]: HrTime): bigint {
  return BigInt(seconds) * NANOS_PER_SECOND + BigInt(nanos)
}
