import { signal } from '@preact/signals'

/** Where the console is: the path and the query hold all state of a view. */
export interface Place {
  readonly path: string
  readonly query: URLSearchParams
  /** The id of the part of the page to show, or nothing. */
  readonly fragment: string
}

/** The current place. Components that read it are rendered again when it changes. */
export const place = signal<Place>(readPlace())

/** Goes to an address of the console. `replace` changes the current entry of the history instead of adding one. */
export function navigate(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const before = place.value.path
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  place.value = readPlace()
  if (place.value.path !== before) scrollTo(0, 0)
}

/**
 * Changes values of the query and keeps the others. Null and the empty string remove a value.
 * Use `replace` for what changes while a user types or drags.
 */
export function setQuery(
  changes: Readonly<Record<string, string | null>>,
  options: { readonly replace?: boolean } = {},
): void {
  navigate(withQuery(changes), options)
}

/** Returns the current address with changed values of the query, for links that keep the rest of the view. */
export function withQuery(changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(place.value.query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name)
    else query.set(name, value)
  }
  return query.size === 0 ? place.value.path : `${place.value.path}?${query}`
}

/** Follows links of the console without loading the page, and the buttons of the browser. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    place.value = readPlace()
  })
  document.addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest?.('a')
    if (!link || event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const isOurs = link.origin === location.origin && !link.pathname.startsWith('/api/')
    if (!isOurs || link.target !== '' || link.hasAttribute('download')) return
    // A link within the page, such as the one that skips the navigation.
    if (link.hash !== '' && link.pathname === location.pathname && link.search === location.search) return
    event.preventDefault()
    navigate(link.pathname + link.search + link.hash)
  })
}

function readPlace(): Place {
  return {
    path: location.pathname,
    query: new URLSearchParams(location.search),
    fragment: location.hash.slice(1),
  }
}
