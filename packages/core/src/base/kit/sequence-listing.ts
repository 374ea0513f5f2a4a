import { cursorOfPlace, type Listing, type ListingPage, type ListingRequest, placeOf } from './listing.ts'

type Sequence<Item> = () => AsyncIterable<Item>

/**
 * Returns the sequences as lists. Each page reads its sequence from the beginning, only as far as necessary. A cursor
 * is the position of an item.
 */
export function listingOfSequences<Item>(sequences: readonly Sequence<Item>[]): Listing<Item> {
  return {
    async pages(request) {
      const pages: ListingPage<Item>[] = []
      for (const sequence of sequences) pages.push(await pageOf(sequence, request))
      return pages
    },
    async counts(limit) {
      const counts: number[] = []
      for (const sequence of sequences) counts.push((await take(sequence, limit + 1)).length)
      return counts
    },
    /** Never called with a name, as `Sum` is `never`. */
    async sums() {
      return []
    },
  }
}

async function pageOf<Item>(sequence: Sequence<Item>, request: ListingRequest): Promise<ListingPage<Item>> {
  const { first, last, after, before } = request
  const start = after === undefined ? 0 : placeOf(after)
  const end = before === undefined ? Number.POSITIVE_INFINITY : placeOf(before) - 1
  const all = await take(sequence, first === undefined ? end : Math.min(end, start + first + 1))
  const from = first === undefined ? Math.max(start, all.length - (last ?? 0)) : start
  const items = all.slice(from, first === undefined ? undefined : start + first)
  const cursors = items.map((_, index) => cursorOfPlace(from + index + 1))
  return {
    items,
    cursors,
    startCursor: cursors[0],
    endCursor: cursors.at(-1),
    hasMore: first === undefined ? from > start : all.length > start + first,
  }
}

async function take<Item>(sequence: Sequence<Item>, count: number): Promise<Item[]> {
  const items: Item[] = []
  if (count <= 0) return items
  for await (const item of sequence()) {
    items.push(item)
    if (items.length >= count) break
  }
  return items
}
