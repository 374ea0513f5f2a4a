import { type Listed, listingOfArrays } from '@penstock/core'

/** What is at hand already, as a list. */
export const listed = <Item>(items: readonly Item[]): Listed<Item> => ({ listing: listingOfArrays([items]), index: 0 })
