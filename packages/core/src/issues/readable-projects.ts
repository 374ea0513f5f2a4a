import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely'
import { type Permission, type PermissionRow, permissionTable } from '../access/permission-table.ts'
import { hasLevelInProject } from '../access/visible-store.ts'
import type { Actor, Reading } from '../kit/context.ts'
import type { CoreTables } from '../kit/tables.ts'

/**
 * `can` as a condition on the row of `projects` at hand, for lists across projects. It takes no account of archiving: that
 * ends changes, and not looking.
 */
export function allowedInProject(reading: Reading, actor: Actor, permission: Permission): Expression<SqlBool> {
  const { least, visitors }: PermissionRow = permissionTable[permission]
  return asSeenBy(actor, (viewer) => {
    if (viewer?.isAdministrator) return sql<SqlBool>`1 = 1`
    const eb = expressionBuilder<CoreTables, 'projects'>()
    if (viewer === undefined) {
      return visitors === 'anyone' ? eb('projects.visibility', '=', 'public') : sql<SqlBool>`1 = 0`
    }
    const byRole = hasLevelInProject(reading, viewer.id, least)
    return visitors === undefined ? byRole : eb.or([eb('projects.visibility', 'in', ['public', 'internal']), byRole])
  })
}

/** What a job sees: of its own project as its user, of all others as nobody. */
export function asSeenBy(actor: Actor, condition: (viewer: Actor) => Expression<SqlBool>): Expression<SqlBool> {
  if (actor?.jobProjectId === undefined) return condition(actor)
  const { jobProjectId, ...user } = actor
  const eb = expressionBuilder<CoreTables, 'projects'>()
  return eb.or([condition(undefined), eb.and([eb('projects.id', '=', jobProjectId), condition(user)])])
}
