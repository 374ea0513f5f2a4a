import { levelsIn } from '../../base/access/membership.ts'
import type { Subject } from '../../base/access/subject.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Actor } from '../../base/model/user.ts'
import { isInScope } from '../../identity/parents/parent-scope-store.ts'

/** A condition on milestones that limits them to certain parents. */
export type MilestoneScope = ReturnType<typeof isInScope>

interface MilestoneReach {
  readonly ancestors: boolean
  readonly descendants: boolean
}

/**
 * Returns the scope of each parent, which the actor may read: with `ancestors` it includes the groups above, with
 * `descendants` the groups and projects below, except those that the actor may not read.
 */
export async function milestoneScopes(
  context: ReadContext & { readonly actor: Actor },
  parents: readonly Subject[],
  { ancestors: above, descendants }: MilestoneReach,
): Promise<MilestoneScope[]> {
  const { actor } = context
  // Roles are inherited: a member of the parent has the role in everything below, so no check is needed there.
  const levelOf = descendants && actor !== undefined ? await levelsIn(context, actor.id, parents) : undefined
  return parents.map((parent) => {
    const isMember = levelOf !== undefined && levelOf(parent) > accessLevels.minimal
    const scope = { parent, above, groupsBelow: descendants, ...(descendants && { projectsBelow: 'all' as const }) }
    return isInScope(context, scope, {
      above: 'read_milestone',
      ...(!isMember && { groupsBelow: 'read_milestone', projectsBelow: 'read_issue' }),
    })
  })
}
