export const DAY_MS = 86_400_000

/** Returns the date of an instant as `YYYY-MM-DD`, in UTC. */
export const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
