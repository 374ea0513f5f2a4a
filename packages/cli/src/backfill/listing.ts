import { formatCount } from '../text/wording.ts'
import type { ForgeClient, Item, Page } from './forge-client.ts'
import { ForgeError } from './forge-error.ts'

type Query = Parameters<ForgeClient['page']>[1]

/**
 * The number of consecutive pages without any new item after which the list is treated as endless. Insertions can shift
 * items by at most one page.
 */
const MAX_STALE_PAGES = 3

interface ListOptions {
  readonly forge: Pick<ForgeClient, 'page'>
  readonly path: string
  readonly query: Query
  /** The maximum number of items. A longer list is an error. */
  readonly maxItems: number
}

/**
 * Yields every item of a list once, even if the list changes during reading. The list is in ascending order of ids.
 *
 * Page numbers count from the start of the list, so a deletion moves later items to earlier pages, which were already
 * read. Therefore the previous page is read again after each page. If it contains a known item, there is no gap between
 * the two. Otherwise its items are new, and the page before it is read too.
 *
 * @throws {ForgeError} if the list repeats its pages or does not end
 */
export async function* listAscending(
  options: ListOptions,
  onPage: (page: Page, number: number) => void,
): AsyncGenerator<Item> {
  const collection = new Collection(options)
  for (let number = 1; ; number++) {
    const page = await collection.fetch(number)
    onPage(page, number)
    const moved: Item[][] = []
    for (let back = number - 1; back >= 1; back--) {
      const { items } = await collection.fetch(back)
      const news = collection.newsOf(items)
      moved.unshift(news)
      if (news.length < items.length) break
    }
    for (const news of moved) yield* collection.collect(news)
    yield* collection.collect(collection.newsOf(page.items))
    if (page.last) return
    collection.refuseStale()
  }
}

/** Returns every item of a list that no longer changes, such as the jobs of a finished pipeline. */
export async function listAll(options: ListOptions, onRead: (bytes: number) => void): Promise<readonly Item[]> {
  const collection = new Collection(options)
  const items: Item[] = []
  for (let number = 1; ; number++) {
    const page = await collection.fetch(number)
    onRead(page.bytes)
    items.push(...collection.collect(collection.newsOf(page.items)))
    if (page.last) return items
    collection.refuseStale()
  }
}

/** The items of a list that have been read. */
class Collection {
  readonly #options: ListOptions
  readonly #seen = new Set<bigint>()
  #seenBefore = 0
  #stalePages = 0

  constructor(options: ListOptions) {
    this.#options = options
  }

  fetch(number: number): Promise<Page> {
    const { forge, path, query } = this.#options
    return forge.page(path, query, number)
  }

  newsOf(items: readonly Item[]): Item[] {
    return items.filter(({ id }) => !this.#seen.has(id))
  }

  *collect(items: readonly Item[]): Generator<Item> {
    const { path, maxItems } = this.#options
    for (const item of items) {
      if (this.#seen.has(item.id)) continue
      this.#seen.add(item.id)
      if (this.#seen.size > maxItems) {
        throw new ForgeError(`${path}: the list has more than ${formatCount(maxItems)} items or does not end`)
      }
      yield item
    }
  }

  /** Checks that the list makes progress. Called after every page except the last one. */
  refuseStale(): void {
    this.#stalePages = this.#seen.size === this.#seenBefore ? this.#stalePages + 1 : 0
    this.#seenBefore = this.#seen.size
    if (this.#stalePages < MAX_STALE_PAGES) return
    throw new ForgeError(`${this.#options.path}: the forge repeats its pages endlessly`)
  }
}
