import { type SelectQueryBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { Reading } from './context.ts'
import { problem } from './parse-input.ts'
import type { CoreTables } from './tables.ts'

export const MAX_PER_PAGE = 100
const DEFAULT_PER_PAGE = 20
/** Totals are counted so far and one more. */
export const COUNTED = 10_000

/**
 * Parameters of every list, to be spread into its input: `page` and `perPage` as sent, values below 1 taken for the
 * default, more than 100 for 100.
 *
 * @see spec/rest-part2-details.md 1.6
 */
export const pageInput = {
  page: z
    .int()
    .default(1)
    .transform((page) => Math.max(page, 1)),
  perPage: z
    .int()
    .default(DEFAULT_PER_PAGE)
    .superRefine((perPage, context) => {
      if (perPage === 0) context.addIssue(problem('value_not_allowed'))
    })
    .transform((perPage) => (perPage < 0 ? DEFAULT_PER_PAGE : Math.min(perPage, MAX_PER_PAGE))),
}

export interface PageRequest {
  readonly page: number
  readonly perPage: number
}

export interface Page<Item> extends PageRequest {
  readonly items: readonly Item[]
  readonly hasNext: boolean
  /** `undefined`: more than `COUNTED`. */
  readonly total: number | undefined
}

/** One page of an ordered query. The order must be total: end it with the key. */
export async function pageOf<From extends keyof CoreTables, Row>(
  { db }: Reading,
  query: SelectQueryBuilder<CoreTables, From, Row>,
  { page, perPage }: PageRequest,
): Promise<Page<Row>> {
  const rows = await query
    .limit(perPage + 1)
    .offset((page - 1) * perPage)
    .execute()
  const some = query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`1`.as('one'))
    .limit(COUNTED + 1)
  const { total } = await db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return {
    items: rows.slice(0, perPage),
    page,
    perPage,
    hasNext: rows.length > perPage,
    total: total > COUNTED ? undefined : total,
  }
}

export function mapPage<From, To>(page: Page<From>, to: (item: From) => To): Page<To> {
  return { ...page, items: page.items.map(to) }
}
