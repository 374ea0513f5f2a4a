import type { Listing, ListingPage } from '@penstock/core'
import { expect, test } from 'vitest'
import { Loaders } from '../request/loaders.ts'
import { Connection } from './connection.ts'

test('returns cursors for a page even if all of its items have been deleted', async () => {
  const page: ListingPage<string> = { items: [], cursors: [], startCursor: 'a', endCursor: 'b', hasMore: true }
  const listing: Listing<string> = { pages: async () => [page], counts: async () => [0], sums: async () => [] }
  const connection = new Connection({ listing, index: 0 }, { first: 2 }, new Loaders())
  expect(await connection.pageInfo()).toEqual({
    hasNextPage: true,
    hasPreviousPage: false,
    startCursor: 'a',
    endCursor: 'b',
  })
})
