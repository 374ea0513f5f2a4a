import { Lookup } from '@penstock/db'
import { type Generated, sql } from 'kysely'
import type { ReadContext, WriteContext } from './store-context.ts'

declare module './tables.ts' {
  interface CoreTables {
    internal_ids: InternalIdsTable
  }
}

interface InternalIdsTable {
  /** `group:16`, `project:5`, `instance` */
  parent: string
  /** `milestones` */
  kind: string
  last: Generated<number>
}

type Scope = { readonly groupId: number } | { readonly projectId: number } | 'instance'

/**
 * Returns the next number of a kind within a parent, or within the whole instance, starting at 1. No number is used twice, even by concurrent
 * transactions.
 */
export const nextIid = (context: Pick<WriteContext, 'db'>, parent: Scope, kind: string): Promise<number> =>
  takeIids(context, parent, kind, 1)

/** Takes the next `count` numbers, like `nextIid`, and returns the first of them. */
export async function takeIids(
  { db }: Pick<WriteContext, 'db'>,
  parent: Scope,
  kind: string,
  count: number,
): Promise<number> {
  const row = await takenNumbers.run(db, nameOf(parent), kind, count)
  return row!.last - count + 1
}

const takenNumbers = new Lookup((db: ReadContext['db'], parent: string, kind: string, count: number) =>
  db
    .insertInto('internal_ids')
    .values({ parent, kind, last: count })
    .onConflict((conflict) =>
      conflict
        .columns(['parent', 'kind'])
        .doUpdateSet(({ ref }) => ({ last: sql<number>`${ref('internal_ids.last')} + ${count}` })),
    )
    .returning('last'),
)

function nameOf(parent: Scope): string {
  if (parent === 'instance') return parent
  return 'groupId' in parent ? `group:${parent.groupId}` : `project:${parent.projectId}`
}

/** Takes a number that the caller chose, so that `nextIid` continues after it. Returns the number. */
export async function useIid(
  { db }: Pick<WriteContext, 'db'>,
  parent: { readonly groupId: number } | { readonly projectId: number },
  kind: string,
  iid: number,
): Promise<number> {
  await db
    .insertInto('internal_ids')
    .values({ parent: nameOf(parent), kind, last: iid })
    .onConflict((conflict) =>
      conflict.columns(['parent', 'kind']).doUpdateSet(({ ref }) => ({
        last: sql<number>`case when ${ref('internal_ids.last')} < ${iid} then ${iid} else ${ref('internal_ids.last')} end`,
      })),
    )
    .execute()
  return iid
}
