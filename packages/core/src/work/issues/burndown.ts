import { DAY_MS } from '../../base/kit/day.ts'
import type { Milestone } from '../milestones/milestone.ts'

export interface BurndownEvent {
  readonly atMs: number
  readonly weight: number | undefined
  readonly action: 'created' | 'closed' | 'reopened'
}

/** The fields of an issue that a burndown chart needs. */
export interface BurndownIssue {
  readonly createdAtMs: number
  readonly weight: number | undefined
  readonly isClosed: boolean
  /** State changes in chronological order. */
  readonly events: readonly { readonly atMs: number; readonly action: 'closed' | 'reopened' }[]
}

/**
 * Returns the events of a milestone's issues until the end of its due date or until now, whichever is earlier. Events
 * are grouped by issue, and each group starts with the issue's creation.
 */
export function burndownEvents(
  { startDate, dueDate }: { readonly [Date in 'startDate' | 'dueDate']: NonNullable<Milestone[Date]> },
  issues: readonly BurndownIssue[],
  nowMs: number,
): BurndownEvent[] {
  const startMs = Date.parse(startDate)
  const endMs = Math.min(Date.parse(dueDate) + DAY_MS - 1, nowMs)
  return issues
    .filter(({ createdAtMs }) => createdAtMs <= endMs)
    .flatMap((issue) => {
      const changes = withoutRepeats(issue.events)
      // The issue was closed before events were recorded.
      const closing =
        issue.isClosed && !changes.some(({ action }) => action === 'closed')
          ? [{ atMs: startMs, action: 'closed' as const }]
          : []
      return [{ atMs: issue.createdAtMs, action: 'created' as const }, ...closing, ...changes]
        .filter(({ atMs }) => atMs <= endMs)
        .map(({ atMs, action }) => ({ atMs, weight: issue.weight, action }))
    })
}

const withoutRepeats = (events: BurndownIssue['events']) =>
  events.filter(({ action }, index) => action !== events[index - 1]?.action)
