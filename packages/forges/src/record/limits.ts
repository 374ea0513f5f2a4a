/** The largest signed 64-bit integer, which limits ids, sizes, and times in nanoseconds (until 2262-04-11). */
export const MAX_INTEGER = 2n ** 63n - 1n

/** The longest duration, in seconds: its nanoseconds fit into a signed 64-bit integer. */
export const MAX_SECONDS = Number(MAX_INTEGER) / 1e9

/** The maximum number of UTF-8 bytes of the failing lines of a job. */
export const MAX_FAILURE_BYTES = 16_384

/** The maximum number of steps of one job. Further ones are left out, with a warning or a count. */
export const MAX_STEPS = 1_000
