export function isoTime(ms: number): string
export function isoTime(ms: number | undefined): string | null
/** Returns a time in the form of ISO 8601, or null for an absent one. */
export function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
