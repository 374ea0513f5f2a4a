import { z } from 'zod'
import type { Subject } from '../access/subject.ts'
import { allowedInGroup, allowedInProject } from '../access/visible-store.ts'
import { getGroup, groupOf } from '../groups/group-store.ts'
import { type IssueCounts, issueCountsByMilestone } from '../issues/issue-list-store.ts'
import { notFound } from '../kit/domain-error.ts'
import { listedEach } from '../kit/listing.ts'
import { dayOrInstant } from '../kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../kit/parse-input.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import { descriptionsOfEach } from '../operations/description-store.ts'
import { batchQuery, query, unscopedBatchQuery } from '../operations/operation.ts'
import { getProject, projectOf } from '../projects/project-store.ts'
import { type Milestone, milestoneOrder, milestoneStates } from './milestone.ts'
import { milestoneListing } from './milestone-list-store.ts'
import { milestoneScopes } from './milestone-scope-store.ts'
import { findMilestone } from './milestone-store.ts'

const MAX_IDS = 1_000
const MAX_CHARACTERS = 255

const milestonesOfEachInput = z
  .object({
    ids: z.array(z.int()).max(MAX_IDS).optional(),
    state: z.enum([...milestoneStates, 'all']).default('all'),
    title: z.string().max(MAX_CHARACTERS).optional(),
    searchTitle: z.string().max(MAX_CHARACTERS).optional(),
    containingDate: dayOrInstant.optional(),
    startDate: dayOrInstant.optional(),
    endDate: dayOrInstant.optional(),
    includeAncestors: z.boolean().default(false),
    includeDescendants: z.boolean().default(false),
    orderBy: milestoneOrder,
    sort: z.enum(['asc', 'desc']).default('asc'),
  })
  .superRefine(({ startDate, endDate }, context) => {
    if (startDate !== undefined && endDate !== undefined && startDate > endDate) {
      context.addIssue(problem('invalid', { names: ['startDate', 'endDate'] }))
    }
  }, acrossParameters)

export const listMilestonesOfEach = batchQuery(
  { name: 'listMilestonesOfEach', input: milestonesOfEachInput, permission: 'read_milestone' },
  async (context, parents: readonly Subject[], { includeAncestors, includeDescendants, orderBy, sort, ...filter }) => {
    const reach = { ancestors: includeAncestors, descendants: includeDescendants }
    const scopes = await milestoneScopes(context, parents, reach)
    return listedEach(milestoneListing(context, scopes, filter, { orderBy, sort }), parents.length)
  },
)

export const getMilestoneById = query(
  {
    name: 'getMilestoneById',
    input: z.object({ milestoneId: z.int() }),
    permission: 'read_milestone',
    subject: async (context, { milestoneId }): Promise<Subject> => {
      const { kind, id } = (await findMilestone(context, milestoneId))?.parent ?? {}
      if (id === undefined) throw notFound('Milestone')
      return kind === 'group' ? getGroup(context, id) : getProject(context, id)
    },
  },
  async (context, { milestoneId }): Promise<Milestone> => {
    const milestone = await findMilestone(context, milestoneId)
    if (milestone === undefined) throw notFound('Milestone')
    return milestone
  },
)

export const descriptionsOfEachMilestone = descriptionsOfEach<Milestone>('descriptionsOfEachMilestone', 'milestones')

/** Counts by state the issues of each milestone that the actor may see. */
export const countIssuesOfEachMilestone = unscopedBatchQuery(
  { name: 'countIssuesOfEachMilestone', input: z.object({}) },
  async (context, milestones: readonly Milestone[]): Promise<IssueCounts[]> => {
    const ids = milestones.map(({ id }) => id)
    const counts = await issueCountsByMilestone(context, context.actor, ids)
    return ids.map((id) => counts.get(id) ?? { opened: 0, closed: 0 })
  },
)

/** Returns the group or project of each milestone, or `undefined` if the actor may not see it. */
export const parentsOfMilestones = unscopedBatchQuery(
  { name: 'parentsOfMilestones', input: z.object({}) },
  async (context, milestones: readonly Milestone[]): Promise<(Group | Project | undefined)[]> => {
    const { db, actor } = context
    const idsOf = (kind: Subject['kind']) => [
      ...new Set(milestones.flatMap(({ parent }) => (parent.kind === kind ? parent.id : []))),
    ]
    const [groupIds, projectIds] = [idsOf('group'), idsOf('project')]
    const groups =
      groupIds.length === 0
        ? []
        : await db
            .selectFrom('groups')
            .selectAll()
            .where('id', 'in', groupIds)
            .where(allowedInGroup(context, actor, 'read_group'))
            .execute()
    const projects =
      projectIds.length === 0
        ? []
        : await db
            .selectFrom('projects')
            .selectAll()
            .where('id', 'in', projectIds)
            .where(allowedInProject(context, actor, 'read_project'))
            .execute()
    const parents = new Map<string, Group | Project>()
    for (const row of groups) parents.set(`group ${row.id}`, groupOf(row))
    for (const row of projects) parents.set(`project ${row.id}`, projectOf(row))
    return milestones.map(({ parent }) => parents.get(`${parent.kind} ${parent.id}`))
  },
)
