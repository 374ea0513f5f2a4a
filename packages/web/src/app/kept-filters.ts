import { type ConsolePage, consolePages } from '../../console-pages.js'
import type { Place } from '../location.ts'

/** The range, and the filters that have the same name on every Observe page that has them. */
const shared = ['range', 'since', 'until', 'service', 'project', 'ref'] as const

type Shown = Pick<Place, 'path' | 'query'>

const isObserve = (path: string): boolean =>
  consolePages.some((page) => page.path === path && page.navigation?.group === 'observe')

/** The filters with which the pages were last shown in this tab. */
export class KeptFilters {
  readonly #queries = new Map<string, URLSearchParams>()
  #shared = new URLSearchParams()

  /** Call it whenever a page or its query is shown. */
  remember({ path, query }: Shown): void {
    if (!consolePages.some((page) => page.path === path)) return
    this.#queries.set(path, new URLSearchParams(query))
    if (isObserve(path)) this.#shared = new URLSearchParams(query)
  }

  /**
   * Returns the address of a page: its own filters as they were when it was last shown, and those that Observe pages share as they are now.
   * A link to the page that is shown clears its own filters.
   */
  addressOf({ path, navigation }: Pick<ConsolePage, 'path' | 'navigation'>, current: Shown): string {
    const next = new URLSearchParams(path === current.path ? undefined : this.#queries.get(path))
    if (navigation?.group === 'observe') {
      const now = isObserve(current.path) ? current.query : this.#shared
      for (const name of shared) {
        const value = now.get(name)
        if (value === null || value === '') next.delete(name)
        else next.set(name, value)
      }
    }
    return next.size === 0 ? path : `${path}?${next}`
  }

  /** Returns the address of the page with a path. */
  addressOfPath(path: string, current: Shown): string {
    const page = consolePages.find((each) => each.path === path)
    return page === undefined ? path : this.addressOf(page, current)
  }
}

export const keptFilters = new KeptFilters()
