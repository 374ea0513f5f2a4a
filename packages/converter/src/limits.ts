/** The largest signed 64-bit integer: ids, sizes, and times in nanoseconds (until 2262-04-11). */
export const MAX_INTEGER = 2n ** 63n - 1n

/** The same as a duration. */
export const MAX_SECONDS = Number(MAX_INTEGER) / 1e9
