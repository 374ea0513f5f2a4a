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
  if (replace) history.replaceState(history.state, '', address)
  else {
    leaveEntry()
    history.pushState({ entry: Math.random() }, '', address)
    entry = entryOf(history.state)
  }
  place.value = readPlace()
  if (place.value.path === before) return
  stopScrolling()
  scrollTo(0, 0)
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
  // The browser would scroll before the page has its data, while it is not as high as it was.
  history.scrollRestoration = 'manual'
  addEventListener('pagehide', () => {
    history.scrollRestoration = 'auto'
  })
  addEventListener('popstate', (event) => {
    leaveEntry()
    entry = entryOf(event.state)
    place.value = readPlace()
    scrollBack(scrolled.get(entry) ?? 0)
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

/** Returns the number of an entry of the history from its state; `undefined` for the first entry, which has none. */
const entryOf = (state: unknown): number | undefined => (state as { entry?: number } | null)?.entry
let entry = entryOf(history.state)
/** How far the entries of the history were scrolled when they were left, in the order in which they were left. */
const scrolled = new Map<number | undefined, number>()
/** A browser keeps about as many entries. The page of an older one begins at its top. */
const MAX_ENTRIES = 50

function leaveEntry(): void {
  scrolled.delete(entry)
  scrolled.set(entry, scrollY)
  if (scrolled.size > MAX_ENTRIES) scrolled.delete(scrolled.keys().next().value)
}

let stopScrolling = () => {}
const SCROLL_BACK_MS = 5_000
const ownScrolling = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

/** Scrolls to the place where an entry was left, again each time that the height of the page changes, until the user does something. */
function scrollBack(top: number): void {
  stopScrolling()
  const observer = new ResizeObserver(() => scrollTo(0, top))
  const timer = setTimeout(() => stopScrolling(), SCROLL_BACK_MS)
  stopScrolling = () => {
    observer.disconnect()
    clearTimeout(timer)
    for (const name of ownScrolling) removeEventListener(name, stopScrolling)
    stopScrolling = () => {}
  }
  for (const name of ownScrolling) addEventListener(name, stopScrolling, { passive: true })
  observer.observe(document.documentElement)
}

function readPlace(): Place {
  return {
    path: location.pathname,
    query: new URLSearchParams(location.search),
    fragment: location.hash.slice(1),
  }
}
