import { isDeepStrictEqual } from 'node:util'
import { notFound } from '../../base/kit/domain-error.ts'
import { newObject, validate, withInput } from '../../base/kit/field-table.ts'
import { parentIds } from '../../base/model/parent.ts'
import type { Tx } from '../../base/operations/context.ts'
import { comparedFields, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { type OnParent, onGroupsAndProjects } from '../../identity/parents/parent-operations.ts'
import {
  createMilestoneInput,
  type DescribedMilestone,
  dateErrors,
  describedMilestoneFields,
  listMilestonesInput,
  type MilestoneDraft,
  milestoneDraft,
  milestoneInput,
  removeMilestoneInput,
  updateMilestoneInput,
} from './milestone.ts'
import { pageOfMilestones } from './milestone-list-store.ts'
import { milestoneScopes } from './milestone-scope-store.ts'
import { deleteMilestone, getMilestone, insertMilestone, isTitleTaken, updateMilestone } from './milestone-store.ts'

export const { group: groupMilestones, project: projectMilestones } = onGroupsAndProjects(
  {
    noun: 'Milestone',
    permissions: () => ({ read: 'read_milestone', write: 'admin_milestone', remove: 'remove_milestone' }),
    isConditional: true,
  },
  (on) => ({
    list: on.list(listMilestonesInput, async (context, input) => {
      const ancestors = input.includeAncestors ?? input.includeParentMilestones ?? false
      const descendants = input.includeDescendants ?? false
      const within =
        ancestors || descendants
          ? (await milestoneScopes(context, [context.subject], { ancestors, descendants }))[0]!
          : context.subject
      return pageOfMilestones(context, within, ancestors ? { ...input, iids: undefined } : input, input)
    }),

    get: on.get(milestoneInput, (context, { milestoneId }) => getMilestone(context, context.subject, milestoneId)),

    create: on.create(createMilestoneInput, async (tx, input) => {
      const draft = newObject(milestoneDraft, input)
      await validateMilestone(tx, draft)
      const milestone = await insertMilestone(tx, tx.subject, draft)
      await recordChange(tx, milestoneEvents, 'created', { after: milestone, ...parentIds(tx.subject) })
      return milestone
    }),

    update: on.update(updateMilestoneInput, async (tx, input) => {
      const before = await getMilestone(tx, tx.subject, input.milestoneId)
      const updated = withInput(milestoneDraft, before, input)
      const state = input.stateEvent === undefined ? before.state : stateAfter[input.stateEvent]
      const isUpdated = !isDeepStrictEqual(updated, before)
      if (!isUpdated && state === before.state) return before
      if (isUpdated) await validateMilestone(tx, updated, before)
      const milestone = await updateMilestone(tx, { ...updated, state })
      const change = { before, after: milestone, ...parentIds(tx.subject) }
      if (isUpdated) await recordChange(tx, milestoneEvents, 'updated', change)
      if (state !== before.state) {
        await recordChange(tx, milestoneEvents, state === 'closed' ? 'closed' : 'reopened', change)
      }
      return milestone
    }),

    remove: on.remove(removeMilestoneInput, async (tx, { milestoneId }) => {
      if (typeof milestoneId === 'string') throw notFound()
      const milestone = await getMilestone(tx, tx.subject, milestoneId)
      tx.requireUnmodified(milestone.updatedAtMs)
      await deleteMilestone(tx, milestone.id)
      await recordChange(tx, milestoneEvents, 'removed', { before: milestone, ...parentIds(tx.subject) })
    }),
  }),
)

const stateAfter = { close: 'closed', activate: 'active' } as const

/** @throws DomainError `invalid` */
async function validateMilestone(tx: OnParent<Tx>, draft: MilestoneDraft, before?: MilestoneDraft): Promise<void> {
  const isTaken = draft.title !== before?.title && (await isTitleTaken(tx, tx.subject, draft.title))
  validate(milestoneDraft, draft, {
    ...(isTaken && { title: ['already being used for another group or project milestone.'] }),
    ...dateErrors(draft),
  })
}

const milestoneEvents: RecordedKind<DescribedMilestone> = {
  noun: 'milestone',
  compared: comparedFields(describedMilestoneFields),
  detailsOf: ({ iid, title }) => ({ iid, title }),
}
