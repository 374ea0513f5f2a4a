import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import { always, isOneOf, never } from '../kit/conditions.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import { type AccessLevel, accessLevels, type Visibility } from '../model/access-level.ts'
import { roleOfCreationLevel } from '../model/creation-levels.ts'
import { type Feature, type FeatureLevel, groupFeatureFields, projectFeatureFields } from '../model/feature-access.ts'
import type { Actor, BotHome } from '../model/user.ts'
import { isInForce } from './membership.ts'
import { type Permission, type PermissionRow, permissionTable, type RoleRule } from './permission-table.ts'

/**
 * The rules of `can` and `levelIn`, as conditions on the rows of `groups` and `projects` in a query:
 *
 * ```ts
 * db.selectFrom('projects').selectAll().where(allowedInProject(context, actor, 'read_issue'))
 * ```
 *
 * They ignore archiving, which removes only permissions to change something.
 */
type Condition = Expression<SqlBool>
type AtInstant = Pick<ReadContext, 'nowMs'>

/** Selects the groups that the actor may see: by their visibility, by a role, or by a role in something below. */
export const isVisibleGroup = (context: AtInstant, actor: Actor) => allowedInGroup(context, actor, 'read_group')

/** Selects the projects that the actor may see: by their visibility or by a role. */
export const isVisibleProject = (context: AtInstant, actor: Actor) => allowedInProject(context, actor, 'read_project')

export const allowedInGroup = (context: AtInstant, actor: Actor, permission: Permission): Condition =>
  groupsAllowedBy(permissionTable[permission], context, actor)

/** Selects the groups in which a row of the permission table gives the actor its permission. */
export function groupsAllowedBy(row: PermissionRow, context: AtInstant, actor: Actor): Condition {
  // A job sees the groups that callers without a sign-in see.
  const viewer = actor?.jobProjectId === undefined ? actor : undefined
  if (viewer === undefined) return isOpenTo(viewer, row, 'groups')
  const isUsable = featureConditions(row, 'groups', ['private', 'enabled'])
  if (viewer.isAdministrator) return allOf(isUsable)
  const asMember = anyOf([
    isOpenTo(viewer, row, 'groups'),
    allOf([...isUsable, hasRoleInGroup(context, viewer.id, row)]),
  ])
  return anyOf([
    ...(viewer.botHome === undefined
      ? [asMember]
      : [isOpenTo(undefined, row, 'groups'), allOf([isHomeOf(viewer.botHome, 'groups'), asMember])]),
    ...(row.fromBelow ? [allOf([...isUsable, hasRoleBelowGroup(context, viewer.id)])] : []),
  ])
}

export const allowedInProject = (context: AtInstant, actor: Actor, permission: Permission): Condition =>
  projectsAllowedBy(permissionTable[permission], context, actor)

/** Selects the projects in which a row of the permission table gives the actor its permission. */
export function projectsAllowedBy(row: PermissionRow, context: AtInstant, actor: Actor): Condition {
  const isUsable = featureConditions(row, 'projects', ['private', 'enabled'])
  return asSeenBy(actor, (viewer) => {
    if (viewer?.isAdministrator) return allOf(isUsable)
    return anyOf([
      isOpenTo(viewer, row, 'projects'),
      ...(viewer === undefined ? [] : [allOf([...isUsable, hasRoleInProject(context, viewer.id, row)])]),
    ])
  })
}

/**
 * Returns the condition with the actor as the viewer. A job or a bot has the rights of its user in its own project or
 * below its own group. Elsewhere it has those of a caller without a sign-in.
 */
export function asSeenBy(actor: Actor, condition: (viewer: Actor) => Condition): Condition {
  if (actor === undefined) return condition(actor)
  const { jobProjectId, botHome, ...user } = actor
  if (jobProjectId === undefined && botHome === undefined) return condition(actor)
  const within = [
    ...(jobProjectId === undefined ? [] : [sql<SqlBool>`${sql.ref('projects.id')} = ${jobProjectId}`]),
    ...(botHome === undefined ? [] : [isHomeOf(botHome, 'projects')]),
  ]
  return anyOf([condition(undefined), allOf([...within, condition({ ...user, botHome: undefined })])])
}

/** Holds for the bot's own project, or for the groups and projects below its group. */
function isHomeOf({ projectId, groupId }: BotHome, table: 'groups' | 'projects'): Condition {
  const homes = [
    ...(groupId === undefined ? [] : [sql<SqlBool>`${sql.ref(`${table}.lineage`)} like ${`%/${groupId}/%`}`]),
    ...(projectId === undefined || table === 'groups' ? [] : [sql<SqlBool>`${sql.ref('projects.id')} = ${projectId}`]),
  ]
  return homes.length === 0 ? never : anyOf(homes)
}

/** Selects the groups where the user has a role in the group itself or in a group or project below it. */
export const hasRoleInOrBelowGroup = (context: AtInstant, userId: number): Condition =>
  anyOf([hasLevelInGroup(context, userId, accessLevels.minimal), hasRoleBelowGroup(context, userId)])

/** Selects the groups in which the user has at least this role, given there or inherited. */
export const hasLevelInGroup = (
  context: AtInstant,
  userId: number,
  least: AccessLevel | RawBuilder<number>,
): Condition =>
  expressionBuilder<CoreTables, 'groups'>().exists(
    rolesInGroup(context, userId).where('members.access_level', '>=', least),
  )

/** Selects the groups in which the user's highest role, direct or inherited, is one of the roles of the rule. */
function hasRoleInGroup(context: AtInstant, userId: number, { least, roles: admitted }: RoleRule): Condition {
  if (admitted === undefined) return hasLevelInGroup(context, userId, least)
  return isOneOf(sql`${rolesInGroup(context, userId).clearSelect().select(highestLevel)}`, admitted)
}

const rolesInGroup = (context: AtInstant, userId: number) =>
  roles(context, userId)
    .innerJoin('groups as above', 'above.id', 'members.group_id')
    .where((inner) =>
      inner.or([
        inner('members.access_level', '>', accessLevels.minimal),
        sql<SqlBool>`${sql.ref('members.group_id')} = ${sql.ref('groups.id')}`,
      ]),
    )
    .where(liesIn('groups.lineage', 'above.lineage'))

/** A role that no one has. */
const UNREACHABLE_LEVEL = 1_000

/** Selects the groups in which the user's role suffices to create projects. */
export const mayCreateProjects = (context: AtInstant, userId: number): Condition =>
  hasLevelInGroup(
    context,
    userId,
    sql<number>`case groups.project_creation_level ${sql.join(
      Object.entries(roleOfCreationLevel).map(([name, role]) => sql`when ${name} then ${sql.lit(role)}`),
      sql` `,
    )} else ${sql.lit(UNREACHABLE_LEVEL)} end`,
  )

/** Selects the groups in which the user was directly given a role above minimal access. */
export function hasDirectRoleInGroup(context: AtInstant, userId: number): Condition {
  const eb = expressionBuilder<CoreTables, 'groups'>()
  return eb.exists(
    roles(context, userId)
      .where('members.access_level', '>', accessLevels.minimal)
      .where(sql<SqlBool>`${sql.ref('members.group_id')} = ${sql.ref('groups.id')}`),
  )
}

/** Selects the projects in which the user has at least this role, given there or inherited. */
export const hasLevelInProject = (context: AtInstant, userId: number, least: AccessLevel): Condition =>
  expressionBuilder<CoreTables, 'projects'>().exists(
    rolesInProject(context, userId).where('members.access_level', '>=', Math.max(least, accessLevels.guest)),
  )

/** Selects the projects in which the user's highest role, direct or inherited, is one of the roles of the rule. */
function hasRoleInProject(context: AtInstant, userId: number, { least, roles: admitted }: RoleRule): Condition {
  if (admitted === undefined) return hasLevelInProject(context, userId, least)
  const counting = rolesInProject(context, userId).where('members.access_level', '>=', accessLevels.guest)
  return isOneOf(sql`${counting.clearSelect().select(highestLevel)}`, admitted)
}

const rolesInProject = (context: AtInstant, userId: number) =>
  roles(context, userId)
    .leftJoin('groups as above', 'above.id', 'members.group_id')
    .where((inner) =>
      inner.or([
        sql<SqlBool>`${sql.ref('members.project_id')} = ${sql.ref('projects.id')}`,
        liesIn('projects.lineage', 'above.lineage'),
      ]),
    )

/**
 * Selects the groups where the user has a role in a group or project below, or in the group itself. The latter is
 * harmless, because a role in the group allows at least as much as one below it.
 */
function hasRoleBelowGroup(context: AtInstant, userId: number): Condition {
  const eb = expressionBuilder<CoreTables, 'groups'>()
  return eb.exists(
    roles(context, userId)
      .leftJoin('groups as below', 'below.id', 'members.group_id')
      .leftJoin('projects as within', 'within.id', 'members.project_id')
      .where((inner) =>
        inner.or([liesIn('below.lineage', 'groups.lineage'), liesIn('within.lineage', 'groups.lineage')]),
      ),
  )
}

/** Returns the ids of the given groups where the actor has a role in the group itself or below it. */
export async function groupsWithRoleBelow(
  context: ReadContext,
  actor: Actor,
  groups: readonly { readonly id: number }[],
): Promise<ReadonlySet<number>> {
  if (actor === undefined || groups.length === 0) return new Set()
  const ids = groups.map(({ id }) => id)
  const rows = await context.db
    .selectFrom('groups')
    .select('id')
    .where('id', 'in', ids)
    .where(hasRoleBelowGroup(context, actor.id))
    .execute()
  return new Set(rows.map(({ id }) => id))
}

const roles = (context: AtInstant, userId: number) =>
  expressionBuilder<CoreTables, never>()
    .selectFrom('members')
    .select(sql<number>`1`.as('one'))
    .where('members.user_id', '=', userId)
    .where(isInForce(context))

const highestLevel = sql<number>`max(${sql.ref('members.access_level')})`.as('level')

/**
 * Both arguments are names of columns. A group or project lies in a group if its lineage begins with that of the group.
 */
const liesIn = (lineage: string, above: string) => sql<SqlBool>`${sql.ref(lineage)} like ${sql.ref(above)} || '%'`

const allOf = (conditions: readonly Condition[]): Condition => {
  const [first = always, ...others] = conditions
  return others.length === 0 ? first : sql<SqlBool>`(${sql.join([first, ...others], sql` and `)})`
}

const anyOf = (conditions: readonly Condition[]): Condition => sql<SqlBool>`(${sql.join([...conditions], sql` or `)})`

const featureFields = { groups: groupFeatureFields, projects: projectFeatureFields } as const

/**
 * Returns the condition that one of the row's features has one of the levels. Returns no condition if the row has no
 * features, or if the table lacks a column for one of them.
 */
function featureConditions(
  { features = [] }: PermissionRow,
  table: 'groups' | 'projects',
  levels: readonly FeatureLevel[],
): Condition[] {
  const fields: Partial<Record<Feature, { readonly column: string }>> = featureFields[table]
  const columns = features.flatMap((feature) => fields[feature]?.column ?? [])
  if (columns.length === 0 || columns.length < features.length) return []
  return [anyOf(columns.map((column) => isOneOf(sql.ref(`${table}.${column}`), levels)))]
}

/** Selects what the viewer may see because of its visibility alone. */
function isOpenTo(viewer: Actor, row: PermissionRow, table: 'groups' | 'projects'): Condition {
  const { visitors } = row
  const admitted: Visibility[] =
    viewer !== undefined && visitors !== undefined
      ? viewer.isExternal
        ? ['public']
        : ['public', 'internal']
      : visitors === 'anyone'
        ? ['public']
        : []
  if (admitted.length === 0) return never
  return allOf([isOneOf(sql.ref(`${table}.visibility`), admitted), ...featureConditions(row, table, ['enabled'])])
}
