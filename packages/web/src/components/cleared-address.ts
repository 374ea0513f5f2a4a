import { place } from '../location.ts'

/** Returns the current address without its query, except for the parts to keep. */
export function clearedAddress(keep: readonly string[]): string {
  const query = new URLSearchParams()
  for (const name of keep) {
    const value = place.value.query.get(name)
    if (value !== null) query.set(name, value)
  }
  return query.size === 0 ? place.value.path : `${place.value.path}?${query}`
}
