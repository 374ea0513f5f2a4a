import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { Subject } from '../access/subject.ts'
import { getGroup } from '../groups/group-store.ts'
import { burndownEvents } from '../issues/burndown.ts'
import { burndownIssues } from '../issues/burndown-store.ts'
import { pageOfIssues } from '../issues/issue-list-store.ts'
import { invalid, notFound } from '../kit/domain-error.ts'
import type { namespaceRef } from '../kit/parameter-schemas.ts'
import type { ReadContext } from '../kit/store-context.ts'
import { pageOfMergeRequests } from '../merge-requests/merge-request-list-store.ts'
import type { Tx } from '../operations/context.ts'
import type { DomainEvent } from '../operations/event.ts'
import { command, query } from '../operations/operation.ts'
import { getProject } from '../projects/project-store.ts'
import {
  createMilestoneInput,
  type DescribedMilestone,
  listMilestonesInput,
  type Milestone,
  type MilestoneFields,
  milestoneInput,
  pageOfMilestoneInput,
  removeMilestoneInput,
  updateMilestoneInput,
  validateMilestone,
  withFields,
} from './milestone.ts'
import { pageOfMilestones } from './milestone-list-store.ts'
import { milestoneScope } from './milestone-scope-store.ts'
import { deleteMilestone, getMilestone, insertMilestone, isTitleTaken, updateMilestone } from './milestone-store.ts'

/** Group and project milestones have the same operations and differ only in their parent. */
export const groupMilestones = milestonesOf('Group', (context, { parent }) => getGroup(context, parent))
export const projectMilestones = milestonesOf('Project', (context, { parent }) => getProject(context, parent))

function milestonesOf(
  owner: 'Group' | 'Project',
  subject: (context: ReadContext, input: { readonly parent: z.output<typeof namespaceRef> }) => Promise<Subject>,
) {
  const reads = { permission: 'read_milestone', subject } as const
  const writes = { permission: 'admin_milestone', subject } as const

  return {
    list: query({ name: `list${owner}Milestones`, input: listMilestonesInput, ...reads }, async (context, input) => {
      const { includeAncestors, includeParentMilestones, includeDescendants } = input
      const ancestors = includeAncestors ?? includeParentMilestones ?? false
      const scope = await milestoneScope(context, context.subject, {
        ancestors,
        descendants: includeDescendants ?? false,
      })
      return pageOfMilestones(context, scope, ancestors ? { ...input, iids: undefined } : input, input)
    }),

    get: query({ name: `get${owner}Milestone`, input: milestoneInput, ...reads }, (context, { milestoneId }) =>
      getMilestone(context, context.subject, milestoneId),
    ),

    issues: query(
      { name: `list${owner}MilestoneIssues`, input: pageOfMilestoneInput, ...reads },
      async (context, input) => {
        const { id } = await getMilestone(context, context.subject, input.milestoneId)
        return pageOfIssues(context, context.actor, { ...contentsFilter(context.subject), milestoneId: id }, input)
      },
    ),

    mergeRequests: query(
      { name: `list${owner}MilestoneMergeRequests`, input: pageOfMilestoneInput, ...reads },
      async (context, input) => {
        const { id } = await getMilestone(context, context.subject, input.milestoneId)
        const filter = { ...contentsFilter(context.subject), milestoneId: id }
        return pageOfMergeRequests(context, context.actor, filter, input)
      },
    ),

    burndownEvents: query(
      { name: `list${owner}MilestoneBurndownEvents`, input: milestoneInput, ...reads },
      async (context, input) => {
        const milestone = await getMilestone(context, context.subject, input.milestoneId)
        if (milestone.startDate === undefined || milestone.dueDate === undefined) return []
        const { startDate, dueDate } = milestone
        const issues = await burndownIssues(context, context.actor, milestone)
        return burndownEvents({ startDate, dueDate }, issues, context.nowMs)
      },
    ),

    create: command({ name: `create${owner}Milestone`, input: createMilestoneInput, ...writes }, async (tx, input) => {
      const fields = withFields(blank, input)
      await validateFields(tx, tx.subject, fields)
      const milestone = await insertMilestone(tx, tx.subject, fields)
      await tx.recordEvent(eventOf('created', milestone))
      return milestone
    }),

    update: command({ name: `update${owner}Milestone`, input: updateMilestoneInput, ...writes }, async (tx, input) => {
      const before = await getMilestone(tx, tx.subject, input.milestoneId)
      const updated = withFields(before, input)
      const state = input.stateEvent === undefined ? before.state : stateAfter[input.stateEvent]
      const isUpdated = !isDeepStrictEqual(updated, before)
      if (!isUpdated && state === before.state) return before
      if (isUpdated) await validateFields(tx, tx.subject, updated, before)
      const milestone = await updateMilestone(tx, { ...updated, state })
      if (isUpdated) await tx.recordEvent(eventOf('updated', milestone))
      if (state !== before.state) await tx.recordEvent(eventOf(state === 'closed' ? 'closed' : 'reopened', milestone))
      return milestone
    }),

    remove: command(
      { name: `remove${owner}Milestone`, input: removeMilestoneInput, permission: 'remove_milestone', subject },
      async (tx, { milestoneId }) => {
        if (typeof milestoneId === 'string') throw notFound()
        const milestone = await getMilestone(tx, tx.subject, milestoneId)
        await deleteMilestone(tx, milestone.id)
        await tx.recordEvent(eventOf('removed', milestone))
      },
    ),
  }
}

/** Returns the filter for a milestone's issues or merge requests: for a group, only those of its direct projects. */
const contentsFilter = (subject: Subject) => ({
  within: subject.kind === 'group' ? { group: subject, withSubgroups: false } : { projectId: subject.id },
  orderBy: 'label_priority' as const,
})

const blank: MilestoneFields = { title: '', description: undefined, startDate: undefined, dueDate: undefined }
const stateAfter = { close: 'closed', activate: 'active' } as const

/** @throws DomainError `invalid` */
async function validateFields(
  tx: Tx,
  parent: Subject,
  fields: MilestoneFields,
  before?: DescribedMilestone,
): Promise<void> {
  const errors = validateMilestone(fields)
  if (fields.title !== before?.title && (await isTitleTaken(tx, parent, fields.title))) errors.title = [titleTaken]
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

const titleTaken = 'already being used for another group or project milestone.'

function eventOf(what: 'created' | 'updated' | 'closed' | 'reopened' | 'removed', milestone: Milestone): DomainEvent {
  const { id, iid, title, parent } = milestone
  const owner = parent.kind === 'group' ? { groupId: parent.id } : { projectId: parent.id }
  return { type: `milestone.${what}`, objectId: id, ...owner, details: { iid, title } }
}
