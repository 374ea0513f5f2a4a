import type { Listed, Listing, ListingPage, ListingRequest } from '@penstock/core'
import { GraphQLError } from 'graphql'
import type { Loaders } from './loaders.ts'

/** As clients give them. */
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
/** Exact counts end somewhere. */
export const MAX_COUNTED = 100_000

/**
 * One page of a list, with what is told of the whole list. Fetched when something of it is asked for, with the pages of the
 * other parents.
 *
 * @see spec/graphql-contract.md 3.1
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
    this.#request = requestOf(paging, maxPageSize)
  }

  page(): Promise<ListingPage<Node>> {
    return this.told(JSON.stringify(this.#request), (listing) => listing.pages(this.#request))
  }

  /** At most `most` and one more. */
  count(most: number): Promise<number> {
    return this.told(`count ${most}`, (listing) => listing.counts(most))
  }

  /** What the listing tells of each of its lists, of this one. `ask` runs once for all of them. */
  async told<Result>(what: string, ask: (listing: Listing<Node, Sum>) => Promise<readonly Result[]>): Promise<Result> {
    const { listing, index } = this.#listed
    return (await this.#loaders.once(listing, what, () => ask(listing)))[index]!
  }

  async pageInfo(): Promise<PageInfo> {
    const { startCursor, endCursor, hasMore } = await this.page()
    const { after, before } = this.#paging
    const isBackwards = this.#request.first === undefined
    return {
      hasNextPage: isBackwards ? isGiven(before) : isGiven(before) || hasMore,
      hasPreviousPage: isBackwards ? isGiven(after) || hasMore : isGiven(after),
      startCursor,
      endCursor,
    }
  }
}

const isGiven = (cursor: string | null | undefined): boolean => cursor != null && cursor !== ''

function requestOf({ first, last, after, before }: PagingArguments, maxPageSize: number): ListingRequest {
  if (first != null && last != null) {
    throw new GraphQLError('Can only provide either `first` or `last`, not both')
  }
  const within = (size: number) => Math.min(Math.max(size, 0), maxPageSize)
  return {
    ...(last == null ? { first: within(first ?? maxPageSize) } : { last: within(last) }),
    ...(isGiven(after) && { after: after! }),
    ...(isGiven(before) && { before: before! }),
  }
}
