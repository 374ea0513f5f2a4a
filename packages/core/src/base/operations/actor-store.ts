import type { ReadContext } from '../kit/store-context.ts'
import type { Actor } from '../model/user.ts'

/** Returns whether the user who made the request has been removed since it was authenticated. */
export async function isRemovedActor({ db }: Pick<ReadContext, 'db'>, actor: Actor): Promise<boolean> {
  if (actor === undefined) return false
  const row = await db.selectFrom('users').select('id').where('id', '=', actor.id).executeTakeFirst()
  return row === undefined
}
