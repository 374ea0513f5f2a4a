import type { JsonObject } from '../body/fields.ts'
import { RecordError } from '../record/record-error.ts'

export interface ListItem {
  readonly id: string
  readonly value: JsonObject
}

export interface ListPage {
  readonly items: readonly ListItem[]
  /** The number of items on all pages, if the forge sends it. */
  readonly total: number | undefined
  readonly isLast: boolean
  /** The length of the body as received. */
  readonly bytes: number
}

/**
 * The number of consecutive pages without any new item after which the list is treated as endless. Insertions can shift
 * items by at most one page.
 */
const MAX_STALE_PAGES = 3

interface ListOptions {
  /** The path of the list, for messages. */
  readonly path: string
  /** Reads a page, counted from 1. */
  readonly fetch: (number: number) => Promise<ListPage>
  /** The maximum number of items. A longer list is an error. */
  readonly maxItems: number
}

/**
 * Yields every page of a list with the items that no earlier page had, even if the list changes during reading.
 *
 * Page numbers count from the start of the list, so a deletion moves later items to earlier pages, which were already
 * read. Therefore the previous page is read again after each page. If it contains a known item, there is no gap between
 * the two. Otherwise its items are new, and the page before it is read too. Insertions only repeat items.
 *
 * @throws {RecordError} if the list repeats its pages or does not end
 */
export async function* listChanging(options: ListOptions): AsyncGenerator<ListPage> {
  const collection = new Collection(options)
  for (let number = 1; ; number++) {
    const page = await options.fetch(number)
    const moved: ListItem[][] = []
    for (let back = number - 1; back >= 1; back--) {
      const { items } = await options.fetch(back)
      const news = collection.newsOf(items)
      moved.unshift(news)
      if (news.length < items.length) break
    }
    yield { ...page, items: collection.collect([...moved.flat(), ...page.items]) }
    if (page.isLast) return
    collection.refuseStale()
  }
}

/** Returns every item of a list that no longer changes, such as the jobs of a finished pipeline. */
export async function listAll(options: ListOptions): Promise<readonly ListItem[]> {
  const collection = new Collection(options)
  const items: ListItem[] = []
  for (let number = 1; ; number++) {
    const page = await options.fetch(number)
    items.push(...collection.collect(page.items))
    if (page.isLast) return items
    collection.refuseStale()
  }
}

interface CursorPage extends Pick<ListPage, 'items' | 'bytes'> {
  /** The text that names the next page; absent or empty on the last page. */
  readonly next: string | undefined
}

interface CursorListOptions extends Pick<ListOptions, 'path' | 'maxItems'> {
  /** Reads the page that a cursor names, or the first one. */
  readonly fetch: (cursor: string | undefined) => Promise<CursorPage>
}

/**
 * Yields every page of a list with pages that name the next one, with the items that no earlier page had. Such a list does not shift.
 *
 * @throws {RecordError} if the list repeats its pages or does not end
 */
export async function* listByCursor(options: CursorListOptions): AsyncGenerator<CursorPage> {
  const collection = new Collection(options)
  for (let cursor: string | undefined; ; ) {
    const page = await options.fetch(cursor)
    yield { ...page, items: collection.collect(page.items) }
    cursor = page.next
    if (cursor === undefined || cursor === '') return
    collection.refuseStale()
  }
}

/** The items of a list that have been read. */
class Collection {
  readonly #options: Pick<ListOptions, 'path' | 'maxItems'>
  readonly #seen = new Set<string>()
  #seenBefore = 0
  #stalePages = 0

  constructor(options: Pick<ListOptions, 'path' | 'maxItems'>) {
    this.#options = options
  }

  newsOf(items: readonly ListItem[]): ListItem[] {
    return items.filter(({ id }) => !this.#seen.has(id))
  }

  /** Returns the items that are new, each once. */
  collect(items: readonly ListItem[]): ListItem[] {
    const { path, maxItems } = this.#options
    return items.filter(({ id }) => {
      if (this.#seen.has(id)) return false
      this.#seen.add(id)
      if (this.#seen.size <= maxItems) return true
      throw new RecordError('', `${path}: the list has more than ${withCommas(maxItems)} items or does not end`)
    })
  }

  /** Checks that the list makes progress. Called after every page except the last one. */
  refuseStale(): void {
    this.#stalePages = this.#seen.size === this.#seenBefore ? this.#stalePages + 1 : 0
    this.#seenBefore = this.#seen.size
    if (this.#stalePages < MAX_STALE_PAGES) return
    throw new RecordError('', `${this.#options.path}: the forge repeats its pages endlessly`)
  }
}

const withCommas = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
