import type { OtlpRequest } from '@penstock/otlp'

/** From here on the nearest double of an int64 is 2^63, which is none. */
const FIRST_BEYOND = 2n ** 63n - 512n

/**
 * Whether a number of the request is too large for the JSON of the stock exporters: they write every number without a
 * fraction as an integer, also one that no int64 can hold, and receivers refuse the request.
 */
export function exceedsDoubles(request: OtlpRequest): boolean {
  return holds(request, (value) => (typeof value === 'bigint' || typeof value === 'number') && value >= FIRST_BEYOND)
}

function holds(value: unknown, is: (leaf: unknown) => boolean): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some((each) => holds(each, is)) : is(value)
}
