import type { Listed, Listing, ListingPage, ListingRequest } from '@penstock/core'
import { GraphQLError } from 'graphql'
import type { Loaders } from '../request/loaders.ts'

/** The paging arguments of a client. */
export interface PagingArguments {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
  readonly after?: string | null | undefined
  readonly before?: string | null | undefined
}

export interface PageInfo {
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly startCursor: string | undefined
  readonly endCursor: string | undefined
}

export const MAX_PAGE_SIZE = 100
/** Counting stops here, also for exact counts. */
export const MAX_COUNTED = 100_000

/**
 * A page of a list, and values that concern the whole list. Each value is fetched on first use, together with the same
 * value for the lists of other parents.
 */
export class Connection<Node, Sum extends string = never> {
  readonly #listed: Listed<Node, Sum>
  readonly #paging: PagingArguments
  readonly #loaders: Loaders
  readonly #request: ListingRequest

  /** @throws GraphQLError */
  constructor(
    listed: Listed<Node, Sum>,
    paging: PagingArguments,
    loaders: Loaders,
    maxPageSize: number = MAX_PAGE_SIZE,
  ) {
    this.#listed = listed
    this.#paging = paging
    this.#loaders = loaders
    this.#request = toListingRequest(paging, maxPageSize)
  }

  page(): Promise<ListingPage<Node>> {
    return this.query(JSON.stringify(this.#request), (listing) => listing.pages(this.#request))
  }

  /** Returns the length of the list. Counting stops at `max` + 1. */
  count(max: number): Promise<number> {
    return this.query(`count ${max}`, (listing) => listing.counts(max))
  }

  /** Returns the result for this list. `query` runs once and returns a result for every list of the listing. */
  async query<Result>(
    what: string,
    query: (listing: Listing<Node, Sum>) => Promise<readonly Result[]>,
  ): Promise<Result> {
    const { listing, index } = this.#listed
    return (await this.#loaders.loadOnce(listing, what, () => query(listing)))[index]!
  }

  async pageInfo(): Promise<PageInfo> {
    const { startCursor, endCursor, hasMore } = await this.page()
    const { after, before } = this.#paging
    const isBackwards = this.#request.first === undefined
    return {
      hasNextPage: isBackwards ? isPresent(before) : isPresent(before) || hasMore,
      hasPreviousPage: isBackwards ? isPresent(after) || hasMore : isPresent(after),
      startCursor,
      endCursor,
    }
  }
}

const isPresent = (cursor: string | null | undefined): boolean => cursor != null && cursor !== ''

function toListingRequest({ first, last, after, before }: PagingArguments, maxPageSize: number): ListingRequest {
  if (first != null && last != null) {
    throw new GraphQLError('Can only provide either `first` or `last`, not both')
  }
  const within = (size: number) => Math.min(Math.max(size, 0), maxPageSize)
  return {
    ...(last == null ? { first: within(first ?? maxPageSize) } : { last: within(last) }),
    ...(isPresent(after) && { after: after! }),
    ...(isPresent(before) && { before: before! }),
  }
}
