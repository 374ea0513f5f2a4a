import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { accessLevels } from '../access/access-level.ts'
import { levelsIn } from '../access/membership.ts'
import type { Subject } from '../access/subject.ts'
import { allowedInGroup, allowedInProject } from '../access/visible-store.ts'
import { lineageOf } from '../groups/group-store.ts'
import type { Actor, ReadContext } from '../kit/context.ts'
import type { CoreTables } from '../kit/tables.ts'

/** Whose milestones, as a condition on them. */
export type MilestoneScope = (eb: ExpressionBuilder<CoreTables, 'milestones'>) => Expression<SqlBool>

/**
 * The parent itself, which the actor is known to be allowed to read; with `ancestors` the groups above it, with
 * `descendants` the groups and projects below it, as far as the actor may read those.
 *
 * @see spec/rest-part2-details.md 8.3
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

/** Of many parents, in their order. */
export async function milestoneScopes(
  context: ReadContext & { readonly actor: Actor },
  parents: readonly Subject[],
  reach: MilestoneReach,
): Promise<MilestoneScope[]> {
  const { actor } = context
  // Roles are inherited: whoever has one here need not be asked for it in each of what lies below.
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
