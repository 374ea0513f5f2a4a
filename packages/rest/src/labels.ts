import { type DescribedLabel, groupLabels, projectLabels, textColorOn } from '@penstock/core'
import { z } from 'zod'
import { type Area, route, type Shape } from './route.ts'

const shared = {
  id: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  description_html: z.string(),
  text_color: z.string(),
  color: z.string(),
  subscribed: z.boolean(),
  priority: z.int().nullable(),
}

const sharedJson = (label: DescribedLabel) => ({
  id: label.id,
  name: label.name,
  description: label.description ?? null,
  description_html: escaped(label.description ?? ''),
  text_color: textColorOn(label.color),
  color: label.color,
  subscribed: false,
  priority: label.priority ?? null,
})

const groupLabelShape: Shape<DescribedLabel> = { schema: z.object(shared), of: sharedJson }

const projectLabelShape: Shape<DescribedLabel> = {
  schema: z.object({ ...shared, is_project_label: z.boolean() }),
  of: (label) => ({ ...sharedJson(label), is_project_label: label.projectId !== undefined }),
}

export const labelsArea: Area = {
  tag: 'Labels',
  routes: [...rows('/projects', projectLabels, projectLabelShape), ...rows('/groups', groupLabels, groupLabelShape)],
}

function rows(base: '/projects' | '/groups', labels: typeof projectLabels, shape: Shape<DescribedLabel>) {
  const kind = base === '/projects' ? 'project' : 'group'
  const list = `${base}/:id/labels`
  const one = `${list}/:label_id`
  const names = { parent: 'id' }
  return [
    route({
      method: 'GET',
      path: list,
      operation: labels.list,
      names,
      shape,
      summary: `List the labels of a ${kind}.`,
    }),
    route({
      method: 'GET',
      path: one,
      operation: labels.get,
      names,
      shape,
      endsInName: true,
      summary: `Get a label of a ${kind} by its id or name.`,
    }),
    route({
      method: 'POST',
      path: list,
      operation: labels.create,
      names,
      shape,
      invalid: withTitle,
      summary: `Create a label in a ${kind}.`,
    }),
    route({
      method: 'PUT',
      path: one,
      operation: labels.update,
      names,
      shape,
      invalid: withTitle,
      endsInName: true,
      summary: `Update a label of a ${kind}.`,
    }),
    route({
      method: 'PUT',
      path: list,
      operation: labels.update,
      names,
      shape,
      invalid: withTitle,
      summary: `Update a label of a ${kind}. A parameter names the label.`,
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: labels.remove,
      names,
      endsInName: true,
      summary: `Delete a label of a ${kind}.`,
    }),
    route({
      method: 'DELETE',
      path: list,
      operation: labels.remove,
      names,
      summary: `Delete a label of a ${kind}. A parameter names the label.`,
    }),
  ]
}

/** Reports errors of `name` under `title`, as GitLab does for labels. */
function withTitle({ name, ...others }: Readonly<Record<string, readonly string[]>>) {
  return { ...(name !== undefined && { title: name }), ...others }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!)
