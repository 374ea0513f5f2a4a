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

interface IssuableRoutes {
  /** The plural in paths. */
  readonly path: 'issues' | 'merge_requests'
  /** The path parameter of one of them. */
  readonly key: 'issue_iid' | 'merge_request_iid'
  /** The name in `needs`. */
  readonly thing: string
  readonly shape: Shape
  readonly reads: 10 | 20
  readonly changes: 15 | 30
  /** Further properties of the rows that read in a project. */
  readonly reading?: Pick<MatrixRow, 'job'>
  /** Further properties of the row that lists in a group. */
  readonly inGroup?: Pick<MatrixRow, 'mayBeEmpty'>
}

/** Returns the rows that read, change and remove issues or merge requests. */
export function issuableRows({
  path,
  key,
  thing,
  shape,
  reads,
  changes,
  reading,
  inGroup,
}: IssuableRoutes): MatrixRow[] {
  const all = `/projects/:id/${path}`
  const one = `${all}/:${key}`
  const inProject = { may: { project: reads }, ...everyone, needs: [thing], ...reading } as const
  const change = { answer: [200, shape], send: { title: 'Other' } } as const
  return [
    { call: `GET /${path}`, may: 'signed in', answer: [200, listOf(shape)], send: { scope: 'all' }, mayBeEmpty: true },
    {
      call: `GET /groups/:id/${path}`,
      may: { group: 10 },
      ...everyone,
      answer: [200, listOf(shape)],
      needs: ['milestone contents'],
      ...inGroup,
    },
    { call: `GET ${all}`, ...inProject, answer: [200, listOf(shape)] },
    { call: `GET ${one}`, ...inProject, answer: [200, shape] },
    { call: `PUT ${one}`, may: { project: changes }, needs: [thing], ...change },
    {
      call: `PUT ${one} : of the caller`,
      may: { project: reads },
      visitors: 'signed in',
      needs: [`own ${thing}`],
      ...change,
    },
    { call: `DELETE ${one}`, may: { project: 50 }, answer: [204], needs: [thing] },
    ...tracking(one, thing, shape, reads, changes),
  ]
}

/** Returns the rows for participants, subscriptions and time, which issues and merge requests share. */
const tracking = (one: string, thing: string, shape: Shape, reads: 10 | 20, changes: 15 | 30): MatrixRow[] => {
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
