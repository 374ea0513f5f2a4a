import { type JsonLimits, unlimitedJson } from './json-scanner.ts'

/**
 * The limits for a pipeline record or hook. A job in a hook has about 6 objects and 45 values, so these limits allow two
 * to three times the 20,000 jobs that a pipeline may have. The depth is large because programs that pass hooks on
 * may add deeply nested data; it is safe because no reader of a record recurses.
 */
export const recordJsonLimits: JsonLimits = {
  ...unlimitedJson,
  containers: 400_000,
  values: 2_000_000,
  depth: 10_000,
}
