import { z } from 'zod'
import type { Subject } from '../../base/access/subject.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import { directLevels, groupsWithOtherOwner } from './member-store.ts'

/**
 * Tells for each subject whether the actor has a direct role in it and may give it up, according to the rules for
 * removing members.
 */
export const mayLeaveEach = unscopedBatchQuery(
  { name: 'mayLeaveEach', input: z.object({}) },
  async (context, subjects: readonly Subject[]): Promise<boolean[]> => {
    const { actor } = context
    if (actor === undefined) return subjects.map(() => false)
    const levels = await directLevels(context, actor.id, subjects)
    const levelOf = ({ kind, id }: Subject) => levels.get(`${kind}:${id}`)
    const owned = subjects.flatMap((each) =>
      each.kind === 'group' && levelOf(each) === accessLevels.owner ? each : [],
    )
    const withOther = await groupsWithOtherOwner(context, owned, actor.id)
    return subjects.map((each) => {
      const level = levelOf(each)
      if (level === undefined) return false
      if (each.kind === 'project') return level > accessLevels.minimal && each.ownerId !== actor.id
      return level < accessLevels.owner || withOther.has(each.id)
    })
  },
)
