import { z } from 'zod'
import type { Subject } from '../../base/access/subject.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { listedEach } from '../../base/kit/listing.ts'
import { dayOrInstant, iidList } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { descriptionsOfEach } from '../../base/operations/description-store.ts'
import { batchQuery, query, unscopedBatchQuery } from '../../base/operations/operation.ts'
import { getParent } from '../../identity/parents/parent-operations.ts'
import { visibleParents } from '../../identity/parents/parent-store.ts'
import { MAX_TITLE, type Milestone, milestoneOrder, milestoneStates } from './milestone.ts'
import { milestoneListing } from './milestone-list-store.ts'
import { milestoneScopes } from './milestone-scope-store.ts'
import { findMilestones } from './milestone-store.ts'

const milestonesOfEachInput = z
  .object({
    ids: iidList.optional(),
    state: z.enum([...milestoneStates, 'all']).default('all'),
    title: z.string().max(MAX_TITLE).optional(),
    searchTitle: z.string().max(MAX_TITLE).optional(),
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
    subject: async (context, { milestoneId }) => {
      const { kind, id } = (await getAnyMilestone(context, milestoneId)).parent
      return getParent(context, kind, id)
    },
  },
  (context, { milestoneId }) => getAnyMilestone(context, milestoneId),
)

async function getAnyMilestone(context: ReadContext, id: number): Promise<Milestone> {
  const milestone = (await findMilestones(context, [id])).get(id)
  if (milestone === undefined) throw notFound('Milestone')
  return milestone
}

export const descriptionsOfEachMilestone = descriptionsOfEach<Milestone>('descriptionsOfEachMilestone', 'milestones')

/** Returns the group or project of each milestone, or `undefined` if the actor may not see it. */
export const parentsOfMilestones = unscopedBatchQuery(
  { name: 'parentsOfMilestones', input: z.object({}) },
  (context, milestones: readonly Milestone[]) =>
    visibleParents(
      context,
      milestones.map(({ parent }) => parent),
    ),
)
