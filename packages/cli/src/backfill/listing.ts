import { formatCount } from '../wording.ts'
import type { Forge, Item, Page } from './forge.ts'
import { ForgeError } from './forge-error.ts'

type Query = Parameters<Forge['page']>[1]

/** Pages in a row that hold nothing but what was there before. Insertions may shift the numbers by one page, not by more. */
const MAX_STALE_PAGES = 3

interface ListOptions {
  readonly forge: Pick<Forge, 'page'>
  readonly path: string
  readonly query: Query
  /** More is an error. */
  readonly maxItems: number
}

/**
 * Every item of a list that changes while it is read, each once; the list is in ascending order of ids.
 *
 * Page numbers count from the start, so that what is deleted there moves everything after it to earlier pages, past our
 * reading. Hence each page is followed by another look at the one before: as long as that holds an item we know, nothing lies
 * between the two; else what it holds is news, and we look further back.
 *
 * @throws {ForgeError} for one that repeats its pages, or does not end
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
    for (const news of moved) yield* collection.take(news)
    yield* collection.take(collection.newsOf(page.items))
    if (page.last) return
    collection.refuseStale()
  }
}

/** Every item of a list that has come to rest, such as the jobs of a finished pipeline. */
export async function listAll(options: ListOptions, onRead: (bytes: number) => void): Promise<readonly Item[]> {
  const collection = new Collection(options)
  const items: Item[] = []
  for (let number = 1; ; number++) {
    const page = await collection.fetch(number)
    onRead(page.bytes)
    items.push(...collection.take(collection.newsOf(page.items)))
    if (page.last) return items
    collection.refuseStale()
  }
}

/** What has been seen of a list. */
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

  *take(items: readonly Item[]): Generator<Item> {
    const { path, maxItems } = this.#options
    for (const item of items) {
      if (this.#seen.has(item.id)) continue
      this.#seen.add(item.id)
      if (this.#seen.size > maxItems) {
        throw new ForgeError(`${path}: the list has more than ${formatCount(maxItems)} items, or no end`)
      }
      yield item
    }
  }

  /** After every page that is not the last. */
  refuseStale(): void {
    this.#stalePages = this.#seen.size === this.#seenBefore ? this.#stalePages + 1 : 0
    this.#seenBefore = this.#seen.size
    if (this.#stalePages < MAX_STALE_PAGES) return
    throw new ForgeError(`${this.#options.path}: the forge repeats its pages without end`)
  }
}
