import { type BatchQuery, durationText, type InputSchema, type Issuable } from '@penstock/core'
import type { FieldRef } from '@pothos/core'
import { loadBatched } from '../../request/request-context.ts'
import type { AnyFieldsOf, FieldsOf, Types } from '../../schema/schema-types.ts'

/** Returns the fields for the subscription and the time of issues and merge requests. */
export function trackingFields<Source extends Issuable>(
  fields: AnyFieldsOf<Source>,
  subscriptions: BatchQuery<InputSchema, Source, boolean>,
): Record<string, FieldRef<Types, unknown>> {
  const t = fields as FieldsOf<Issuable>
  return {
    subscribed: t.boolean({
      nullable: false,
      resolve: (source, _args, context) => loadBatched(context, subscriptions, source as Source),
    }),
    timeEstimate: t.exposeInt('timeEstimateSeconds', { nullable: false }),
    totalTimeSpent: t.exposeInt('timeSpentSeconds', { nullable: false }),
    humanTimeEstimate: t.string({ resolve: ({ timeEstimateSeconds }) => durationText(timeEstimateSeconds) }),
    humanTotalTimeSpent: t.string({ resolve: ({ timeSpentSeconds }) => durationText(timeSpentSeconds) }),
  }
}
