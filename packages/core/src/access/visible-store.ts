import { type Expression, type ExpressionBuilder, expressionBuilder, type SqlBool, sql } from 'kysely'
import type { Actor, Reading } from '../kit/context.ts'
import type { CoreTables } from '../kit/tables.ts'
import { type AccessLevel, accessLevels, type Visibility } from './access-level.ts'
import { todayOf } from './membership.ts'

/**
 * What `canSee` and `levelIn` say, as conditions on the rows of `groups` and `projects`:
 *
 * ```ts
 * db.selectFrom('projects').selectAll().where(isVisibleProject(reading, actor))
 * ```
 */
type Condition = Expression<SqlBool>
type Asking = Pick<Reading, 'nowMs'>

/** Groups that the actor may see: by their visibility, by a role, or by a role in something below. */
export function isVisibleGroup(reading: Asking, actor: Actor): Condition {
  const eb = expressionBuilder<CoreTables, 'groups'>()
  if (actor?.isAdministrator) return always
  const open = eb('groups.visibility', 'in', openTo(actor))
  return actor === undefined ? open : eb.or([open, hasPartInGroup(reading, actor.id)])
}

/** Projects that the actor may see: by their visibility or by a role. */
export function isVisibleProject(reading: Asking, actor: Actor): Condition {
  const eb = expressionBuilder<CoreTables, 'projects'>()
  if (actor?.isAdministrator) return always
  const open = eb('projects.visibility', 'in', openTo(actor))
  return actor === undefined ? open : eb.or([open, hasLevelInProject(reading, actor.id, accessLevels.guest)])
}

/** Groups in which the user has a role, or in something below them. */
export function hasPartInGroup(reading: Asking, userId: number): Condition {
  const eb = expressionBuilder<CoreTables, 'groups'>()
  return eb.or([
    hasLevelInGroup(reading, userId, accessLevels.minimal),
    eb.exists(
      roles(reading, userId)
        .leftJoin('groups as below', 'below.id', 'members.group_id')
        .leftJoin('projects as within', 'within.id', 'members.project_id')
        .where((inner) =>
          inner.or([liesIn('below.lineage', 'groups.lineage'), liesIn('within.lineage', 'groups.lineage')]),
        ),
    ),
  ])
}

/** Groups in which the user has at least the role, of its own or inherited. */
export function hasLevelInGroup(reading: Asking, userId: number, least: AccessLevel): Condition {
  const eb = expressionBuilder<CoreTables, 'groups'>()
  return eb.exists(
    roles(reading, userId)
      .innerJoin('groups as above', 'above.id', 'members.group_id')
      .where('members.access_level', '>=', least)
      .where((inner) =>
        inner.or([
          inner('members.access_level', '>', accessLevels.minimal),
          sql<SqlBool>`${sql.ref('members.group_id')} = ${sql.ref('groups.id')}`,
        ]),
      )
      .where(liesIn('groups.lineage', 'above.lineage')),
  )
}

/** Projects in which the user has at least the role, of its own or inherited. */
export function hasLevelInProject(reading: Asking, userId: number, least: AccessLevel): Condition {
  const eb = expressionBuilder<CoreTables, 'projects'>()
  return eb.exists(
    roles(reading, userId)
      .leftJoin('groups as above', 'above.id', 'members.group_id')
      .where('members.access_level', '>=', Math.max(least, accessLevels.guest))
      .where((inner) =>
        inner.or([
          sql<SqlBool>`${sql.ref('members.project_id')} = ${sql.ref('projects.id')}`,
          liesIn('projects.lineage', 'above.lineage'),
        ]),
      ),
  )
}

/** Memberships that have not ended. */
export const isInForce =
  ({ nowMs }: Asking) =>
  (eb: ExpressionBuilder<CoreTables, 'members'>): Condition =>
    eb.or([eb('members.expires_at', 'is', null), eb('members.expires_at', '>', todayOf(nowMs))])

const roles = (reading: Asking, userId: number) =>
  expressionBuilder<CoreTables, never>()
    .selectFrom('members')
    .select(sql<number>`1`.as('one'))
    .where('members.user_id', '=', userId)
    .where(isInForce(reading))

/** Both name columns; those above a thing begin its lineage. */
const liesIn = (lineage: string, above: string) => sql<SqlBool>`${sql.ref(lineage)} like ${sql.ref(above)} || '%'`

const always = sql<SqlBool>`1 = 1`

const openTo = (actor: Actor): Visibility[] => (actor === undefined ? ['public'] : ['public', 'internal'])
