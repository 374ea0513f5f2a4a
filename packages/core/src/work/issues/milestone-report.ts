import { z } from 'zod'
import { can } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import { dayAt } from '../../base/kit/day.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import { findGroup } from '../../identity/groups/group-store.ts'
import { findProject } from '../../identity/projects/project-store.ts'
import type { Milestone } from '../milestones/milestone.ts'
import { type BurndownIssue, burndownEvents } from './burndown.ts'
import { burndownIssuesOfEach } from './burndown-store.ts'
import type { IssueFilter } from './issue.ts'

/** The issues of a milestone at the end of a day. */
export interface BurnupTotals {
  readonly date: string
  readonly scopeCount: number
  readonly scopeWeight: number
  readonly completedCount: number
  readonly completedWeight: number
}

/**
 * Returns for each milestone the totals of the days on which they changed, oldest first. Changes from before the start
 * date count on the start date. Returns `undefined` for a milestone that lacks a start date or a due date.
 */
export const reportOfEachMilestone = unscopedBatchQuery(
  { name: 'reportOfEachMilestone', input: z.object({ fullPath: z.string().max(1_024).optional() }) },
  async (context, milestones: readonly Milestone[], { fullPath }): Promise<(BurnupTotals[] | undefined)[]> => {
    const within = fullPath === undefined ? undefined : await placeAt(context, fullPath)
    const dated = milestones.filter(({ startDate, dueDate }) => startDate !== undefined && dueDate !== undefined)
    const ids = dated.map(({ id }) => id)
    const issues = await burndownIssuesOfEach(context, context.actor, ids, within)
    return milestones.map(({ id, startDate, dueDate }) =>
      startDate === undefined || dueDate === undefined
        ? undefined
        : burnupTotals({ startDate, dueDate }, issues.get(id) ?? [], context.nowMs),
    )
  },
)

function burnupTotals(
  dates: { readonly startDate: string; readonly dueDate: string },
  issues: readonly BurndownIssue[],
  nowMs: number,
): BurnupTotals[] {
  const totals = { scopeCount: 0, scopeWeight: 0, completedCount: 0, completedWeight: 0 }
  const days = new Map<string, BurnupTotals>()
  const events = burndownEvents(dates, issues, nowMs).toSorted((a, b) => a.atMs - b.atMs)
  for (const { atMs, action, weight = 0 } of events) {
    if (action === 'created') {
      totals.scopeCount += 1
      totals.scopeWeight += weight
    } else {
      const sign = action === 'closed' ? 1 : -1
      totals.completedCount += sign
      totals.completedWeight += sign * weight
    }
    const day = dayAt(atMs)
    const date = day < dates.startDate ? dates.startDate : day
    days.set(date, { date, ...totals })
  }
  return [...days.values()]
}

/** @throws DomainError `not_found` if there is no such group or project, or the actor may not see it */
async function placeAt(context: ReadContext & OperationContext, fullPath: string): Promise<IssueFilter['within']> {
  const group = await findGroup(context, fullPath)
  if (group !== undefined) {
    if (can(await standingOf(context, context.actor, group), 'read_group')) return { group, withSubgroups: true }
    throw notFound('Group')
  }
  const project = await findProject(context, fullPath)
  const isVisible = project !== undefined && can(await standingOf(context, context.actor, project), 'read_project')
  if (!isVisible) throw notFound('Project')
  return { projectId: project.id }
}
