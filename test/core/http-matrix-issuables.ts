import type { MatrixRow } from './http-matrix-row.ts'
import { basicUser, listOf, type Shape } from './http-matrix-shapes.ts'
import type { Maker, ThingContext } from './matrix-area.ts'

const timeStats: Shape = {
  exactly: {
    time_estimate: 'int',
    total_time_spent: 'int',
    human_time_estimate: 'text?',
    human_total_time_spent: 'text?',
  },
}
const everyone = { visitors: 'anyone' } as const

/** Returns the rows for participants, subscriptions and time, which issues and merge requests share. */
export const tracking = (one: string, thing: string, shape: Shape, reads: 10 | 20, changes: 15 | 30): MatrixRow[] => {
  const needs = [thing]
  const change = { may: { project: changes }, needs } as const
  return [
    { call: `GET ${one}/participants`, may: { project: reads }, ...everyone, answer: [200, listOf(basicUser)], needs },
    { call: `GET ${one}/time_stats`, may: { project: reads }, ...everyone, answer: [200, timeStats], needs },
    {
      call: `POST ${one}/subscribe`,
      may: { project: reads },
      visitors: 'signed in',
      answer: [201, shape],
      needs: [`${thing} of another`],
    },
    {
      call: `POST ${one}/unsubscribe`,
      may: { project: reads },
      visitors: 'signed in',
      answer: [201, shape],
      needs: [`own ${thing}`],
    },
    { call: `POST ${one}/time_estimate`, ...change, answer: [200, timeStats], send: { duration: '3h' } },
    { call: `POST ${one}/reset_time_estimate`, ...change, answer: [200, timeStats] },
    { call: `POST ${one}/add_spent_time`, ...change, answer: [201, timeStats], send: { duration: '1h' } },
    { call: `POST ${one}/reset_spent_time`, ...change, answer: [200, timeStats] },
  ]
}

/** Returns makers of a thing that the caller has created, and of one that another user has created. */
export const byAuthor = (table: 'issues' | 'merge_requests', maker: Maker): { own: Maker; ofAnother: Maker } => ({
  own: async (context) => {
    const values = await maker(context)
    await setAuthor(context, table)
    return values
  },
  ofAnother: async (context) => {
    const values = await maker(context)
    await setAuthor(context, table, (await context.server.createUser()).id)
    return values
  },
})

/** Makes the caller the author of the project's only object, as if they had created it when they were a member. */
async function setAuthor(
  { server, parent, caller }: ThingContext,
  table: 'issues' | 'merge_requests',
  id = caller.id,
): Promise<void> {
  await server.world.core.db.write((db) =>
    db.updateTable(table).set({ author_id: id }).where('project_id', '=', parent!.id).execute(),
  )
}
