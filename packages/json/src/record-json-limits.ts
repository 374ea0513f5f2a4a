import type { JsonLimits } from './json-scanner.ts'

/**
 * The limits of a pipeline record or hook. A job of a forge's hook has about 6 objects and 45 values, so these allow two or
 * three times the 20,000 jobs that a pipeline may have. Relays nest what they add deeply, and nothing that reads a record recurses.
 */
export const recordJsonLimits: JsonLimits = { containers: 400_000, values: 2_000_000, depth: 10_000 }
