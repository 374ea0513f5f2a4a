import { type DescribedLabel, describedLabelFields, groupLabels, projectLabels, textColorOn } from '@penstock/core'
import { z } from 'zod'
import { jsonShape, type Members, member, membersOf, pick } from '../routing/json-shape.ts'
import { parentNames as names, type ParentKind, parentRoutes } from '../routing/parent-routes.ts'
import { type Area, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { escapedHtml } from './shapes/escaped-html.ts'

const plain = membersOf(describedLabelFields)
const members: Members<DescribedLabel> = {
  ...pick(plain, 'id', 'name', 'description'),
  descriptionHtml: member(z.string(), ({ description = '' }) => escapedHtml(description)),
  textColor: member(z.string(), ({ color }) => textColorOn(color)),
  color: plain.color,
  subscribed: member(z.boolean(), () => false),
  priority: plain.priority,
}
const shapes = {
  project: jsonShape<DescribedLabel>('ProjectLabel', {
    ...members,
    isProjectLabel: member(z.boolean(), ({ projectId }) => projectId !== undefined),
  }),
  group: jsonShape('GroupLabel', members),
}
const operations = { project: projectLabels, group: groupLabels }

/** Reports errors of `name` under `title`, as GitLab does for labels. */
const invalid = ({ name, ...others }: Readonly<Record<string, readonly string[]>>) => ({
  ...(name !== undefined && { title: name }),
  ...others,
})

/** The routes without a label in their path: the parameter `name` or `label_id` names it. */
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
  ]
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
