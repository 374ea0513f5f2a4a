/** Formats a time in UTC, without a fraction if it is a whole second. */
export const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

export const rfc3339OrNull = (ms: number | null): string | null => (ms === null ? null : rfc3339(ms))
