import { emptyListing, type Listed, listingOfArrays } from '@penstock/core'

/** What is at hand already, as a list. */
export const listed = <Item>(items: readonly Item[]): Listed<Item> => ({ listing: listingOfArrays([items]), index: 0 })

/** The same of nothing, which adds up to 0 by any name. */
export const listedNone = <Item>(): Listed<Item, string> => ({ listing: emptyListing<Item>(1), index: 0 })
