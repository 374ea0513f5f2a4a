import type { ConsolePage } from '../../console-pages.js'

/** What the Observe pages have in common: the range, and the filters that each of them that has it names in the same way. */
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
