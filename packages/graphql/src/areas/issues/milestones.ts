import {
  countIssuesOfEachMilestone,
  descriptionsOfEachMilestone,
  getMilestoneById,
  isMilestoneExpired,
  isMilestoneUpcoming,
  listMilestonesOfEach,
  milestoneFields,
  milestoneWebPath,
  parentsOfMilestones,
  type Subject,
} from '@penstock/core'
import type { InputShapeFromFields } from '@pothos/core'
import { loadBatched, type RequestContext, readOrNull } from '../../request/request-context.ts'
import { descriptionField, parentFields, plainFields } from '../../schema/area-fields.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup } from '../../schema/cost.ts'
import { oldNames, orderIn, timeSorts } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { ArgumentsMaker } from '../../schema/schema-types.ts'
import { addMilestoneReports } from './milestone-reports.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    MilestoneStats: { readonly opened: number; readonly closed: number }
  }
}

export function addMilestones(kit: Kit): void {
  const { builder, globalIds, web } = kit

  const state = milestoneState(kit)
  builder.objectType('MilestoneStats', {
    description: 'Issues of the milestone that the caller may see',
    fields: (t) => ({
      totalIssuesCount: t.int({ resolve: ({ opened, closed }) => opened + closed }),
      closedIssuesCount: t.exposeInt('closed'),
    }),
  })
  builder.objectType('Milestone', {
    fields: (t) => ({
      ...plainFields(t, milestoneFields, ['title', 'startDate', 'dueDate', 'createdAtMs', 'updatedAtMs']),
      ...parentFields(t, parentsOfMilestones),
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Milestone', id) }),
      iid: t.string({ nullable: false, resolve: ({ iid }) => String(iid) }),
      description: descriptionField(t, descriptionsOfEachMilestone),
      state: t.field({ type: state, nullable: false, resolve: (source) => source.state }),
      expired: t.boolean({
        nullable: false,
        resolve: (source, _args, { core }) => isMilestoneExpired(source, core.clock.nowMs()),
      }),
      upcoming: t.boolean({
        nullable: false,
        resolve: (source, _args, { core }) => isMilestoneUpcoming(source, core.clock.nowMs()),
      }),
      webPath: t.string({ nullable: false, resolve: (source) => web.path(milestoneWebPath(source)) }),
      projectMilestone: t.boolean({ nullable: false, resolve: ({ parent }) => parent.kind === 'project' }),
      groupMilestone: t.boolean({ nullable: false, resolve: ({ parent }) => parent.kind === 'group' }),
      subgroupMilestone: t.boolean({
        nullable: false,
        resolve: ({ parent }) => parent.kind === 'group' && parent.fullPath.includes('/'),
      }),
      stats: t.field({
        type: 'MilestoneStats',
        resolve: (source, _args, context) => loadBatched(context, countIssuesOfEachMilestone, source),
      }),
    }),
  })
  addMilestoneLists(kit, state)
  addMilestoneReports(kit)

  builder.queryField('milestone', (t) =>
    t.field({
      type: 'Milestone',
      args: { id: t.arg({ type: 'MilestoneID', required: true }) },
      resolve: (_root, { id }, context) => readOrNull(context, getMilestoneById, { milestoneId: id }),
    }),
  )
}

const milestoneState = ({ builder }: Kit) =>
  builder.enumType('MilestoneStateEnum', { values: ['active', 'closed'] as const })

function addMilestoneLists(kit: Kit, state: ReturnType<typeof milestoneState>): void {
  const { builder, globalIds } = kit
  const sort = builder.enumType('MilestoneSort', {
    values: {
      DUE_DATE_ASC: { value: 'due_date asc' },
      DUE_DATE_DESC: { value: 'due_date desc' },
      EXPIRED_LAST_DUE_DATE_ASC: { value: 'expired_last_due_date asc' },
      EXPIRED_LAST_DUE_DATE_DESC: { value: 'expired_last_due_date desc' },
      ...timeSorts,
      ...oldNames,
    } as const,
  })
  const timeframe = builder.inputType('Timeframe', {
    description: 'Inclusive day range; start not after end',
    fields: (t) => ({
      start: t.field({ type: 'Date', required: true }),
      end: t.field({ type: 'Date', required: true }),
    }),
  })
  const listArguments = (t: ArgumentsMaker) => ({
    ids: t.arg.idList(),
    state: t.arg({ type: state, description: 'Default: all states' }),
    title: t.arg.string({ description: 'Exact title' }),
    searchTitle: t.arg.string({ description: 'Words that must all occur in the title' }),
    containingDate: t.arg({ type: 'Time' }),
    timeframe: t.arg({ type: timeframe }),
    includeAncestors: t.arg.boolean(),
    sort: t.arg({ type: sort, defaultValue: 'due_date asc' }),
  })
  type Arguments = InputShapeFromFields<ReturnType<typeof listArguments>> & {
    readonly includeDescendants?: boolean | null | undefined
  }
  const list = (
    parent: Subject,
    { ids, timeframe: frame, sort: order, ...filter }: Arguments,
    context: RequestContext,
  ) =>
    loadBatched(context, listMilestonesOfEach, parent, {
      ...omitNullish(filter),
      ...orderIn(order),
      ids: globalIds.numbersInArgument(ids, 'Milestone'),
      startDate: frame?.start,
      endDate: frame?.end,
    })

  builder.objectFields('Project', (t) => ({
    milestones: connectionField(kit, t, 'Milestone', { cost: lookup, args: listArguments(t), list }),
  }))
  builder.objectFields('Group', (t) => ({
    milestones: connectionField(kit, t, 'Milestone', {
      cost: lookup,
      args: { ...listArguments(t), includeDescendants: t.arg.boolean() },
      list,
    }),
  }))
}
