import type { OtlpRequest } from '@penstock/otlp'

/** From here on the nearest double of an int64 is 2^63, which is none. */
const FIRST_BEYOND = 2n ** 63n - 512n

/** Whether an attribute's integer rounds to a double outside int64. The JSON of the stock exporters is invalid then. */
export function exceedsDoubles(request: OtlpRequest): boolean {
  return holds(request, (value) => typeof value === 'bigint' && value >= FIRST_BEYOND)
}

function holds(value: unknown, is: (leaf: unknown) => boolean): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some((each) => holds(each, is)) : is(value)
}
