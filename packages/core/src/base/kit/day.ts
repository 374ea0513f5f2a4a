export const DAY_MS = 86_400_000

/** The last result, kept because many lists need the date of today for every row. */
let latest = { day: Number.NaN, text: '' }

/** Returns the date of an instant as `YYYY-MM-DD`, in UTC. */
export function dayAt(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (day !== latest.day) latest = { day, text: new Date(ms).toISOString().slice(0, 10) }
  return latest.text
}
