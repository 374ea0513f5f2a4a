import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { levelIn } from '../access/membership.ts'
import { permissionTable } from '../access/permission-table.ts'
import type { Subject } from '../access/subject.ts'
import { lineageOf } from '../groups/group-store.ts'
import { allowedInProject } from '../issues/readable-projects.ts'
import type { Actor, Reading } from '../kit/context.ts'
import type { CoreTables } from '../kit/tables.ts'

/** Whose milestones, as a condition on them. */
export type MilestoneScope = (eb: ExpressionBuilder<CoreTables, 'milestones'>) => Expression<SqlBool>

/**
 * The parent itself, which the actor is known to be allowed to read; with `ancestors` the groups above it, with
 * `descendants` the groups and projects below it, as far as the actor may read those.
 */
export async function milestoneScope(
  context: Reading & { readonly actor: Actor },
  parent: Subject,
  { ancestors, descendants }: { readonly ancestors: boolean; readonly descendants: boolean },
): Promise<MilestoneScope> {
  const { db, actor } = context
  const groups = db.selectFrom('groups').select('groups.id')
  const projects = db.selectFrom('projects').select('projects.id')
  const parts: MilestoneScope[] = [(eb) => eb(parent.kind === 'group' ? 'group_id' : 'project_id', '=', parent.id)]
  if (ancestors && parent.groupIds.length > 0) {
    const above = groups.where('id', 'in', [...parent.groupIds]).where(allowedInGroup(context))
    parts.push((eb) => eb('group_id', 'in', above))
  }
  if (descendants && parent.kind === 'group') {
    const within = `${lineageOf(parent.groupIds)}%`
    // Roles are inherited: whoever has one here need not be asked for it in each of what lies below.
    const isMember = actor !== undefined && (await levelIn(context, actor.id, parent)) >= leastRole
    const groupsBelow = groups.where('lineage', 'like', within)
    const projectsBelow = projects.where('lineage', 'like', within)
    parts.push(
      (eb) => eb('group_id', 'in', isMember ? groupsBelow : groupsBelow.where(allowedInGroup(context))),
      (eb) =>
        eb(
          'project_id',
          'in',
          isMember ? projectsBelow : projectsBelow.where(allowedInProject(context, actor, 'read_issue')),
        ),
    )
  }
  return (eb) => eb.or(parts.map((part) => part(eb)))
}

const leastRole = permissionTable.read_milestone.least

/** `read_milestone` of whoever is signed in, as a condition on `groups`. */
function allowedInGroup({ actor, nowMs }: Reading & { readonly actor: Actor }): Expression<SqlBool> {
  if (actor?.isAdministrator) return sql<SqlBool>`1 = 1`
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return sql<SqlBool>`(groups.visibility in ('public', 'internal') or exists (
    select 1 from members where members.user_id = ${actor?.id ?? null} and members.access_level >= ${leastRole}
      and (members.expires_at is null or members.expires_at > ${today})
      and groups.lineage like '%/' || members.group_id || '/%'))`
}
