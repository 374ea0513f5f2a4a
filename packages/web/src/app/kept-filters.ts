import type { ConsolePage } from '../../console-pages.js'

/** The range, and the filters that have the same name on every Observe page that has them. */
const kept = ['range', 'since', 'until', 'service', 'project', 'ref'] as const

/** Returns the address of a page, with the range and the filters of the current one if both are Observe pages. */
export function pageAddress({ path, navigation }: ConsolePage, query: URLSearchParams): string {
  if (navigation?.group !== 'observe') return path
  const next = new URLSearchParams()
  for (const name of kept) {
    const value = query.get(name)
    if (value !== null && value !== '') next.set(name, value)
  }
  return next.size === 0 ? path : `${path}?${next}`
}
