import { z } from 'zod'
import type { Page } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor } from '../../base/model/user.ts'
import { onGroupsAndProjects } from '../../identity/parents/parent-operations.ts'
import { issueQuery } from '../issues/issue-store.ts'
import { listLabelsInput } from '../labels/label.ts'
import { labelScopeOf } from '../labels/label-scope.ts'
import { pageOfLabels } from '../labels/label-store.ts'
import { type ShownLabel, withSubscriptions } from '../labels/label-subscriptions.ts'
import { openMergeRequestsByLabel } from './merge-request-list-store.ts'

export interface LabelCounts {
  readonly openIssues: number
  readonly closedIssues: number
  readonly openMergeRequests: number
}

/** A label in a list, as one user sees it. `counts` includes only issues and merge requests that the user may see. */
export type ListedLabel = ShownLabel & { readonly counts?: LabelCounts }

/** Lists labels with the subscription of the actor and, on request, with the counts of their issues and merge requests. */
export const { group: listGroupLabels, project: listProjectLabels } = onGroupsAndProjects(
  {
    noun: 'Label',
    readers: 'anyone',
    permissions: () => ({ read: 'read_label', write: 'admin_label' }),
  },
  (on) =>
    on.list(
      listLabelsInput.extend({ withCounts: z.boolean().default(false) }),
      async (context, { withCounts, ...input }): Promise<Page<ListedLabel>> => {
        const page = await pageOfLabels(context, labelScopeOf(context.subject, input), input)
        const items = await withSubscriptions(context, page.items)
        if (!withCounts) return { ...page, items }
        const ids = items.map(({ id }) => id)
        const counts = await countsOfLabels(context, context.actor, ids)
        return { ...page, items: items.map((label) => ({ ...label, counts: counts.get(label.id) ?? none })) }
      },
    ),
)

const none: LabelCounts = { openIssues: 0, closedIssues: 0, openMergeRequests: 0 }

async function countsOfLabels(
  context: ReadContext,
  actor: Actor,
  ids: readonly number[],
): Promise<ReadonlyMap<number, LabelCounts>> {
  const counts = new Map<number, LabelCounts>()
  if (ids.length === 0) return counts
  const issues = await issueQuery(context, actor, {})
    .innerJoin('issue_labels', 'issue_labels.issue_id', 'issues.id')
    .where('issue_labels.label_id', 'in', [...ids])
    .clearSelect()
    .select(['issue_labels.label_id', 'issues.state', ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy(['issue_labels.label_id', 'issues.state'])
    .execute()
  for (const { label_id, state, count } of issues) {
    const key = state === 'closed' ? 'closedIssues' : 'openIssues'
    counts.set(label_id, { ...none, ...counts.get(label_id), [key]: count })
  }
  for (const [id, openMergeRequests] of await openMergeRequestsByLabel(context, actor, ids)) {
    counts.set(id, { ...none, ...counts.get(id), openMergeRequests })
  }
  return counts
}
