import { groupLabelSubscriptions, groupLabels, projectLabelSubscriptions, projectLabels } from '@penstock/core'
import { leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const members = { id: 'int', name: 'text', color: 'text', text_color: 'text', description: 'text?' } as const
const labels: Record<'group' | 'project', Shape> = {
  group: { has: members },
  project: { has: { ...members, priority: 'int?', is_project_label: 'flag' } },
}

/** Needs the role in the group too, which the token of a project does not have. */
const promotion: MatrixRow = {
  call: 'PUT /projects/:id/labels/:label_id/promote',
  may: { project: 15 },
  answer: [200, labels.group],
  needs: ['label to promote'],
  except: { 'project token': { status: 403, body: { message: '403 Forbidden' } } },
}

export const area: MatrixArea = {
  access: {
    read_label: {
      rule: 'everyone who sees the group or project',
      group: '--yyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
      project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    subscribe_label: {
      rule: 'everyone who sees the group or project and is signed in',
      group: '--yyyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    admin_label: {
      rule: 'Planners, Reporters and higher',
      group: '--nnyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
      project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    },
  },

  rows: [
    promotion,
    ...parentKinds.flatMap((kind): MatrixRow[] => {
      const all = `/${kind}s/:id/labels`
      const label = labels[kind]
      const reads = { may: leastOf(kind, 10), visitors: 'anyone', needs: ['label'] } as const
      const writes = { may: leastOf(kind, 15), needs: ['label'] } as const
      return [
        { call: `GET ${all}`, ...reads, answer: [200, listOf(label)] },
        { call: `GET ${all}/:label_id`, ...reads, answer: [200, label] },
        { call: `POST ${all}`, ...writes, answer: [201, label], send: { name: 'new', color: '#ff0000' } },
        { call: `PUT ${all}/:label_id`, ...writes, answer: [200, label], send: { color: '#ff0000' } },
        { call: `PUT ${all}`, ...writes, answer: [200, label], send: { name: 'blue', color: '#ff0000' } },
        { call: `DELETE ${all}/:label_id`, ...writes, answer: [204] },
        { call: `DELETE ${all}`, ...writes, answer: [204], send: { name: 'blue' } },
        {
          call: `POST ${all}/:label_id/subscribe`,
          may: leastOf(kind, 10),
          visitors: 'signed in',
          answer: [201, label],
          needs: ['label'],
        },
        {
          call: `POST ${all}/:label_id/unsubscribe`,
          may: leastOf(kind, 10),
          visitors: 'signed in',
          answer: [201, label],
          needs: ['subscribed label'],
        },
      ]
    }),
  ],

  things: {
    'label to promote': async ({ server, parent }) => {
      const { world, root } = server
      // Other projects of the group get the promoted label, so that its name is taken there.
      const draft = { name: server.word('label'), color: '#0000ff' }
      const { id } = await world.perform(root, projectLabels.create, { parent: parent!.id, ...draft })
      return { label_id: id }
    },
    'subscribed label': async ({ server: { world, root }, parent, caller }) => {
      const [labels, { create }] =
        parent!.kind === 'group' ? [groupLabels, groupLabelSubscriptions] : [projectLabels, projectLabelSubscriptions]
      const { id } = await world.perform(root, labels.create, { parent: parent!.id, name: 'blue', color: '#0000ff' })
      await world.perform(caller, create, { parent: parent!.id, labelId: id }).catch(() => {})
      return { label_id: id }
    },
    label: async ({ server: { world, root }, parent }) => {
      const { create } = parent!.kind === 'group' ? groupLabels : projectLabels
      const { id } = await world.perform(root, create, { parent: parent!.id, name: 'blue', color: '#0000ff' })
      return { label_id: id }
    },
  },
}
