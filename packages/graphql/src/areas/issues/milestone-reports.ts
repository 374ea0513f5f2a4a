import { type BurnupTotals, reportOfEachMilestone } from '@penstock/core'
import { loadBatched } from '../../request/request-context.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    BurnupChartDailyTotals: BurnupTotals
    TimeboxReport: { readonly days: readonly BurnupTotals[] | undefined }
  }
}

/** Adds the field `report` of milestones, with its types. */
export function addMilestoneReports({ builder }: Kit): void {
  builder.objectType('BurnupChartDailyTotals', {
    description: 'Issues of a milestone at the end of a day on which they changed',
    fields: (t) => ({
      date: t.field({ type: 'ISO8601Date', nullable: false, resolve: ({ date }) => date }),
      scopeCount: t.exposeInt('scopeCount', { nullable: false }),
      scopeWeight: t.exposeInt('scopeWeight', { nullable: false }),
      completedCount: t.exposeInt('completedCount', { nullable: false }),
      completedWeight: t.exposeInt('completedWeight', { nullable: false }),
    }),
  })
  builder.objectType('TimeboxReport', {
    description: 'History of a milestone with a start and a due date',
    fields: (t) => ({
      burnupTimeSeries: t.field({ type: ['BurnupChartDailyTotals'], resolve: ({ days }) => days && [...days] }),
    }),
  })
  builder.objectFields('Milestone', (t) => ({
    report: t.field({
      type: 'TimeboxReport',
      args: { fullPath: t.arg.id({ description: 'Full path of the group or project to which the report is limited' }) },
      ...withCost(lookup),
      resolve: async (milestone, args, context) => ({
        days: await loadBatched(context, reportOfEachMilestone, milestone, omitNullish(args)),
      }),
    }),
  }))
}
