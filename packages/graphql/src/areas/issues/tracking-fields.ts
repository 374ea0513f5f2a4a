import { type BatchQuery, DomainError, durationText, type InputSchema, type Issuable } from '@penstock/core'
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

/**
 * Returns the arguments without those that need a feature that does not exist here.
 *
 * @throws DomainError `refused` if one of them has a value
 */
export function withoutAbsent<Args extends object, Absent extends readonly (keyof Args & string)[]>(
  args: Args,
  ...absent: Absent
): Omit<Args, Absent[number]> {
  const present = absent.find((name) => args[name] != null)
  if (present !== undefined) throw new DomainError({ code: 'refused', message: `${present} is not supported` })
  const names: readonly string[] = absent
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name))) as never
}
