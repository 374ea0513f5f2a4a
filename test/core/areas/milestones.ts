import { createIssue, createMergeRequest, type Group, groupMilestones, projectMilestones } from '@penstock/core'
import { withBranch } from '../http-matrix-repository-things.ts'
import { leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import { issue, listOf, mergeRequest, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea, ThingContext } from '../matrix-area.ts'

const members = {
  id: 'int',
  iid: 'int',
  title: 'text',
  description: 'text?',
  state: 'text',
  created_at: 'time',
  updated_at: 'time',
  due_date: 'date?',
  start_date: 'date?',
  expired: 'flag',
  web_url: 'text',
} as const
const shapes = {
  group: { exactly: { ...members, group_id: 'int' } },
  project: { exactly: { ...members, project_id: 'int' } },
} as const
const burndownEvent: Shape = { exactly: { created_at: 'time', weight: 'int?', action: 'text' } }

const create = async ({ server: { world, root }, parent }: ThingContext, draft: object): Promise<number> => {
  const operations = parent!.kind === 'group' ? groupMilestones : projectMilestones
  return (await world.perform(root, operations.create, { parent: parent!.id, ...draft })).id
}

export const area: MatrixArea = {
  access: {
    read_milestone: {
      rule: 'everyone who has signed in and sees the group or project',
      group: '--yyyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    admin_milestone: {
      rule: 'Planners, Reporters and higher',
      group: '--nnyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
      project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    },
    remove_milestone: {
      rule: 'Developers and higher',
      group: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
  },

  rows: parentKinds.flatMap((kind): MatrixRow[] => {
    const all = `/${kind}s/:id/milestones`
    const one = `${all}/:milestone_id`
    const shape = shapes[kind]
    const reads = { may: leastOf(kind, 10), visitors: 'signed in' } as const
    const writes = { may: leastOf(kind, 15) } as const
    const needs = ['milestone']
    const contents = { needs: ['milestone contents'] }
    return [
      { call: `GET ${all}`, ...reads, answer: [200, listOf(shape)], needs },
      { call: `GET ${one}`, ...reads, answer: [200, shape], needs },
      { call: `GET ${one}/issues`, ...reads, ...contents, answer: [200, listOf(issue)] },
      // Guests cannot see merge requests of private projects.
      {
        call: `GET ${one}/merge_requests`,
        ...reads,
        ...contents,
        answer: [200, listOf(mergeRequest)],
        mayBeEmpty: true,
      },
      { call: `GET ${one}/burndown_events`, ...reads, ...contents, answer: [200, listOf(burndownEvent)] },
      { call: `POST ${all}`, ...writes, answer: [201, shape], send: { title: 'Autumn' } },
      { call: `PUT ${one}`, ...writes, answer: [200, shape], needs, send: { state_event: 'close' } },
      { call: `DELETE ${one}`, may: leastOf(kind, 30), answer: [204], needs },
    ]
  }),

  things: {
    milestone: async (context) => ({ milestone_id: await create(context, { title: 'Spring' }) }),
    'milestone contents': async (context) => {
      const { server, parent } = context
      const { world, root } = server
      const milestoneId = await create(context, { title: 'Week', startDate: '2026-02-01', dueDate: '2026-02-08' })
      const project =
        parent!.kind === 'project' ? parent! : await server.create('project', parent!.visibility, parent as Group)
      await world.perform(root, createIssue, { project: project.id, title: 'Sow', milestoneId })
      await withBranch(server, project, 'weeds')
      const draft = { title: 'Weeds', sourceBranch: 'weeds', targetBranch: 'main', milestoneId }
      await world.perform(root, createMergeRequest, { project: project.id, ...draft })
      return { milestone_id: milestoneId }
    },
  },
}
