import {
  type DescribedLabel,
  describedLabelFields,
  groupLabelSubscriptions,
  groupLabels,
  type ListedLabel,
  listGroupLabels,
  listProjectLabels,
  projectLabelSubscriptions,
  projectLabels,
  promoteProjectLabel,
  textColorOn,
} from '@penstock/core'
import { z } from 'zod'
import { jsonShape, type Members, member, membersOf, pick } from '../routing/json-shape.ts'
import { parentNames as names, type ParentKind, parentRoutes } from '../routing/parent-routes.ts'
import { type Area, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { escapedHtml } from './shapes/escaped-html.ts'

const plain = membersOf(describedLabelFields)
/** A label, with the fields that only some responses contain. */
type AnyLabel = DescribedLabel & Partial<ListedLabel>

const count = (value: (counts: NonNullable<AnyLabel['counts']>) => number) =>
  member<AnyLabel>(z.int().optional(), ({ counts }) => counts && value(counts))

const members: Members<AnyLabel> = {
  ...pick(plain, 'id', 'name', 'description'),
  descriptionHtml: member(z.string(), ({ description = '' }) => escapedHtml(description)),
  textColor: member(z.string(), ({ color }) => textColorOn(color)),
  color: plain.color,
  // Only in lists with `with_counts`.
  openIssuesCount: count(({ openIssues }) => openIssues),
  closedIssuesCount: count(({ closedIssues }) => closedIssues),
  openMergeRequestsCount: count(({ openMergeRequests }) => openMergeRequests),
  subscribed: member(z.boolean(), ({ isSubscribed }) => isSubscribed === true),
}
const shapes = {
  project: jsonShape<AnyLabel>('ProjectLabel', {
    ...members,
    priority: plain.priority,
    isProjectLabel: member(z.boolean(), ({ projectId }) => projectId !== undefined),
  }),
  group: jsonShape('GroupLabel', members),
}
const operations = {
  project: { ...projectLabels, list: listProjectLabels },
  group: { ...groupLabels, list: listGroupLabels },
}
const subscriptions = { project: projectLabelSubscriptions, group: groupLabelSubscriptions }

/** Reports errors of `name` under `title`, as GitLab does for labels. */
const invalid = ({ name, ...others }: Readonly<Record<string, readonly string[]>>) => ({
  ...(name !== undefined && { title: name }),
  ...others,
})

/** The routes without a label in their path. The parameter `name` or `label_id` identifies the label. */
function unnamed(kind: ParentKind, { all: path }: { readonly all: string }) {
  const { update, remove } = operations[kind]
  const summary = (verb: string) => `${verb} a label of a ${kind}. A parameter names the label.`
  return [
    route({
      method: 'PUT',
      path,
      operation: update,
      names,
      shape: shapes[kind],
      invalid,
      summary: summary('Update'),
    }),
    route({ method: 'DELETE', path, operation: remove, names, summary: summary('Delete') }),
    ...(kind === 'project' ? [promotion(`${path}/:label_id/promote`)] : []),
    subscription(kind, `${path}/:label_id/subscribe`, 'create', 'Subscribe the caller to'),
    subscription(kind, `${path}/:label_id/unsubscribe`, 'remove', 'Unsubscribe the caller from'),
  ]
}

const promotion = (path: string) =>
  route({
    method: 'PUT',
    path,
    operation: promoteProjectLabel,
    names,
    shape: shapes.group,
    summary:
      'Replace a label of a project, and those with its name in other projects of the group, by one of the group.',
  })

function subscription(kind: ParentKind, path: string, change: 'create' | 'remove', verb: string) {
  return route({
    method: 'POST',
    path,
    operation: subscriptions[kind][change],
    names,
    shape: shapes[kind],
    isUnchanged: ({ isUnchanged }) => isUnchanged,
    summary: `${verb} a label of a ${kind}. The status is 304 if nothing had to be changed.`,
  })
}

const neverArchived = { archived: 'labels are not archived' }

export const labelsArea: Area = {
  tag: 'Labels',
  routes: parentRoutes({
    noun: 'label',
    key: 'label_id',
    operations,
    shape: shapes,
    foundBy: 'by its id or name',
    parameters: {
      list: { ...orderedList, refused: neverArchived },
      create: { refused: neverArchived },
      update: { refused: neverArchived },
    },
    endsInName: true,
    invalid: () => invalid,
    others: unnamed,
  }),
}
