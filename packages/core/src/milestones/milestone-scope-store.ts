import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { levelsIn } from '../access/membership.ts'
import type { Subject } from '../access/subject.ts'
import { allowedInGroup, allowedInProject } from '../access/visible-store.ts'
import { lineageOf } from '../groups/group-store.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import { accessLevels } from '../model/access-level.ts'
import type { Actor } from '../model/user.ts'

/** A condition on milestones that limits them to certain parents. */
export type MilestoneScope = (eb: ExpressionBuilder<CoreTables, 'milestones'>) => Expression<SqlBool>

/**
 * Returns the scope of a parent that the actor may read: with `ancestors` it includes the groups above, with
 * `descendants` the groups and projects below, except those that the actor may not read.
 */
export async function milestoneScope(
  context: ReadContext & { readonly actor: Actor },
  parent: Subject,
  reach: MilestoneReach,
): Promise<MilestoneScope> {
  return (await milestoneScopes(context, [parent], reach))[0]!
}

export interface MilestoneReach {
  readonly ancestors: boolean
  readonly descendants: boolean
}

/** Returns the scope of each parent, in input order. */
export async function milestoneScopes(
  context: ReadContext & { readonly actor: Actor },
  parents: readonly Subject[],
  reach: MilestoneReach,
): Promise<MilestoneScope[]> {
  const { actor } = context
  // Roles are inherited: a member of the parent has the role in everything below, so no check is needed there.
  const levelOf = reach.descendants && actor !== undefined ? await levelsIn(context, actor.id, parents) : undefined
  return parents.map((parent) =>
    scopeOf(context, parent, { ...reach, isMember: levelOf !== undefined && levelOf(parent) > accessLevels.minimal }),
  )
}

function scopeOf(
  context: ReadContext & { readonly actor: Actor },
  parent: Subject,
  { ancestors, descendants, isMember }: MilestoneReach & { readonly isMember: boolean },
): MilestoneScope {
  const { db, actor } = context
  const own: MilestoneScope = (eb) => eb(parent.kind === 'group' ? 'group_id' : 'project_id', '=', parent.id)
  if (!ancestors && !descendants) return own
  const readable = allowedInGroup(context, actor, 'read_milestone')
  const groups = db.selectFrom('groups').select('groups.id')
  const projects = db.selectFrom('projects').select('projects.id')
  const parts: MilestoneScope[] = [own]
  if (ancestors && parent.groupIds.length > 0) {
    const above = groups.where('id', 'in', [...parent.groupIds]).where(readable)
    parts.push((eb) => eb('group_id', 'in', above))
  }
  if (descendants && parent.kind === 'group') {
    const within = `${lineageOf(parent.groupIds)}%`
    const groupsBelow = groups.where('lineage', 'like', within)
    const projectsBelow = projects.where('lineage', 'like', within)
    parts.push(
      (eb) => eb('group_id', 'in', isMember ? groupsBelow : groupsBelow.where(readable)),
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
