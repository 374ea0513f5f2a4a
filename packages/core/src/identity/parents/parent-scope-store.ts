import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { Permission } from '../../base/access/permission-table.ts'
import type { Subject } from '../../base/access/subject.ts'
import { allowedInGroup, allowedInProject } from '../../base/access/visible-store.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import { belongsTo, type TableOfParents } from '../../base/model/parent.ts'
import type { ActorContext } from '../../base/operations/context.ts'
import { lineageOf } from '../groups/group-store.ts'

/** The scope of a list. It always includes the rows of the parent; groups and projects below exist for groups only. */
export interface ParentScope {
  readonly parent: Subject
  /** Includes the rows of the groups above. */
  readonly above?: boolean | undefined
  readonly groupsBelow?: boolean | undefined
  readonly projectsBelow?: 'direct' | 'all' | undefined
}

/** The permissions that the actor needs there. Default: none. */
interface ScopePermissions {
  readonly above?: Permission
  readonly groupsBelow?: Permission
  readonly projectsBelow?: Permission
}

/** Returns a condition for `where`: the row is in the scope. */
export function isInScope(
  context: ActorContext,
  { parent, above, groupsBelow, projectsBelow }: ParentScope,
  needs: ScopePermissions = {},
): (eb: ExpressionBuilder<CoreTables, TableOfParents>) => Expression<SqlBool> {
  const { db, actor } = context
  const lineage = lineageOf(parent.groupIds)
  const groups = (permission: Permission | undefined) =>
    db
      .selectFrom('groups')
      .select('groups.id')
      .$if(permission !== undefined, (all) => all.where(allowedInGroup(context, actor, permission!)))
  const projects = (permission: Permission | undefined) =>
    db
      .selectFrom('projects')
      .select('projects.id')
      .$if(permission !== undefined, (all) => all.where(allowedInProject(context, actor, permission!)))
  const hasAbove = above && parent.groupIds.length > 0
  const isGroup = parent.kind === 'group'
  return (eb) =>
    eb.or([
      belongsTo(parent)(eb),
      ...(hasAbove && needs.above === undefined ? [eb('group_id', 'in', [...parent.groupIds])] : []),
      ...(hasAbove && needs.above !== undefined
        ? [eb('group_id', 'in', groups(needs.above).where('groups.id', 'in', [...parent.groupIds]))]
        : []),
      ...(isGroup && groupsBelow
        ? [eb('group_id', 'in', groups(needs.groupsBelow).where('groups.lineage', 'like', `${lineage}_%`))]
        : []),
      ...(isGroup && projectsBelow
        ? [
            eb(
              'project_id',
              'in',
              projects(needs.projectsBelow).where(
                'projects.lineage',
                'like',
                projectsBelow === 'all' ? `${lineage}%` : lineage,
              ),
            ),
          ]
        : []),
    ])
}
