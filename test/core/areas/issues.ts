import { createIssue } from '@penstock/core'
import type { MatrixRow } from '../http-matrix-row.ts'
import { basicUser, issue, listOf, mergeRequest, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const timeStats: Shape = {
  exactly: {
    time_estimate: 'int',
    total_time_spent: 'int',
    human_time_estimate: 'text?',
    human_total_time_spent: 'text?',
  },
}
const statistics: Shape = {
  exactly: {
    statistics: { exactly: { counts: { exactly: { all: 'int', closed: 'int', opened: 'int' } } } },
  },
}
const everyone = { visitors: 'anyone' } as const

/** The rows for participants, subscriptions and time, which issues and merge requests share. */
const tracking = (one: string, thing: string, shape: Shape, reads: 10 | 20, changes: 15 | 30): MatrixRow[] => {
  const needs = [thing]
  const change = { may: { project: changes }, needs } as const
  return [
    { call: `GET ${one}/participants`, may: { project: reads }, ...everyone, answer: [200, listOf(basicUser)], needs },
    { call: `GET ${one}/time_stats`, may: { project: reads }, ...everyone, answer: [200, timeStats], needs },
    {
      call: `POST ${one}/subscribe`,
      may: { project: reads },
      visitors: 'signed in',
      answer: [201, shape],
      needs: [`${thing} of another`],
    },
    {
      call: `POST ${one}/unsubscribe`,
      may: { project: reads },
      visitors: 'signed in',
      answer: [201, shape],
      needs: [`own ${thing}`],
    },
    { call: `POST ${one}/time_estimate`, ...change, answer: [200, timeStats], send: { duration: '3h' } },
    { call: `POST ${one}/reset_time_estimate`, ...change, answer: [200, timeStats] },
    { call: `POST ${one}/add_spent_time`, ...change, answer: [201, timeStats], send: { duration: '1h' } },
    { call: `POST ${one}/reset_spent_time`, ...change, answer: [200, timeStats] },
  ]
}

export const area: MatrixArea = {
  access: {
    subscribe_issue: {
      rule: 'everyone who may read issues and is signed in',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    subscribe_merge_request: {
      rule: 'everyone who may read merge requests and is signed in',
      project: '---nnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    set_issue_numbers: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [
    { call: 'GET /issues/:id', may: 'administrators', answer: [200, issue], needs: ['any issue'] },
    { call: 'GET /issues_statistics', may: 'signed in', answer: [200, statistics] },
    { call: 'GET /groups/:id/issues_statistics', may: { group: 10 }, ...everyone, answer: [200, statistics] },
    { call: 'GET /projects/:id/issues_statistics', may: { project: 10 }, ...everyone, answer: [200, statistics] },
    ...tracking('/projects/:id/issues/:issue_iid', 'issue', issue, 10, 15),
    {
      // To its own project, which is refused to everyone who can read the issue.
      call: 'POST /projects/:id/issues/:issue_iid/move',
      may: { project: 10 },
      visitors: 'signed in',
      answer: [400, { exactly: { message: 'text' } }],
      needs: ['issue'],
      send: { to_project_id: '{id}' },
      // A bot can read an issue of another public project, like everyone.
      except: {
        'bot of another project, public': {
          status: 400,
          body: { message: 'Cannot move issue to project it originates from!' },
        },
      },
    },
    ...tracking('/projects/:id/merge_requests/:merge_request_iid', 'merge request', mergeRequest, 20, 30),
    {
      call: 'GET /projects/:id/merge_requests/:merge_request_iid/reviewers',
      may: { project: 20 },
      ...everyone,
      answer: [200, listOf({ exactly: { user: basicUser, state: 'text', created_at: 'time?' } })],
      needs: ['merge request'],
      mayBeEmpty: true,
    },
  ],

  things: {
    'any issue': async ({ server: { world, root }, server }) => {
      const project = await server.create('project', 'private')
      return { id: (await world.perform(root, createIssue, { project: project.id, title: 'Sow' })).id }
    },
  },
}
