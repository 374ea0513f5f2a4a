import type { JsonLimits } from './json-scanner.ts'

/**
 * The limits of a pipeline record or hook. A job of a hook has about 6 objects and 45 values, so these limits allow two
 * or three times the 20,000 jobs that a pipeline may have. Relays nest their additions deeply, and no reader of a
 * record recurses.
 */
export const recordJsonLimits: JsonLimits = { containers: 400_000, values: 2_000_000, depth: 10_000 }
