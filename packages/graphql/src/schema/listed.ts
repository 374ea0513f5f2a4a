import { emptyListing, type Listed, listingOfArrays } from '@penstock/core'

/** Wraps items that are already loaded, so that a connection can page through them. */
export const listed = <Item>(items: readonly Item[]): Listed<Item> => ({ listing: listingOfArrays([items]), index: 0 })

/** Returns an empty list, of which every sum is 0. */
export const listedEmpty = <Item>(): Listed<Item, string> => ({ listing: emptyListing<Item>(1), index: 0 })
