import { sql } from 'kysely'
import { z } from 'zod'
import { DAY_MS, dayAt } from '../../base/kit/day.ts'
import { mapPage, type Page, pageInput, pageOf } from '../../base/kit/page.ts'
import { dayOrInstant } from '../../base/kit/parameter-schemas.ts'
import { unscopedQuery } from '../../base/operations/operation.ts'

/** The days that the list covers if the caller does not say more: about half a year. */
const DEFAULT_DAYS = 182

/** The day on which a user was last active. */
export interface UserActivity {
  readonly username: string
  readonly lastActivityOn: string
}

/** Lists the users who were active on or after a day, the longest inactive one first. Private profiles are left out. */
export const listUserActivities = unscopedQuery(
  {
    name: 'listUserActivities',
    caller: 'administrator',
    input: z.object({ from: dayOrInstant.optional(), ...pageInput }),
  },
  async (context, { from = dayAt(context.nowMs - DEFAULT_DAYS * DAY_MS), ...page }): Promise<Page<UserActivity>> => {
    const query = context.db
      .selectFrom('users')
      .select(['users.id', 'users.username', 'users.last_activity_on'])
      .where('users.last_activity_on', '>=', from)
      .where(sql`jsonb(users.settings) ->> 'private_profile'`, 'is', null)
      .orderBy('users.last_activity_on')
      .orderBy('users.id')
    const rows = await pageOf(context, query, page)
    return mapPage(rows, ({ username, last_activity_on }) => ({ username, lastActivityOn: last_activity_on! }))
  },
)
