import { createIssue } from '@penstock/core'
import { byAuthor, issuableRows } from '../http-matrix-issuables.ts'
import type { Answer } from '../http-matrix-row.ts'
import { issue, type Shape } from '../http-matrix-shapes.ts'
import type { Maker, MatrixArea } from '../matrix-area.ts'

const statistics: Shape = {
  exactly: {
    statistics: { exactly: { counts: { exactly: { all: 'int', closed: 'int', opened: 'int' } } } },
  },
}
const everyone = { visitors: 'anyone' } as const
const notFound: Answer = { status: 404, body: { message: '404 Not found' } }

const createdIssue: Maker = async ({ server: { world, root }, parent }) => {
  const { iid } = await world.perform(root, createIssue, { project: parent!.id, title: 'Sow' })
  return { issue_iid: iid }
}
const issues = byAuthor('issues', createdIssue)

export const area: MatrixArea = {
  access: {
    read_issue: {
      rule: 'everyone who sees the project',
      project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    read_confidential_issue: {
      rule: 'Planners, Reporters and higher',
      project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    },
    create_issue: {
      rule: 'Guests and higher; in visible projects everyone who has signed in',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    update_issue: {
      rule: 'Planners, Reporters and higher',
      project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    },
    update_own_issue: {
      rule: 'everyone who may create an issue',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    remove_issue: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
    subscribe_issue: {
      rule: 'everyone who may read issues and is signed in',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    set_issue_numbers: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [
    ...issuableRows({ path: 'issues', key: 'issue_iid', thing: 'issue', shape: issue, reads: 10, changes: 15 }),
    {
      call: 'GET /projects/:id/issues/:issue_iid : confidential',
      may: { project: 15 },
      visitors: 'anyone',
      answer: [200, issue],
      needs: ['confidential issue'],
      // Callers who can see the project but not the issue are answered as if it did not exist.
      except: {
        'one role below': notFound,
        'stranger, internal': notFound,
        'stranger, public': notFound,
        'bot of another project, public': notFound,
        'anonymous, public': notFound,
      },
    },
    {
      call: 'POST /projects/:id/issues',
      may: { project: 10 },
      visitors: 'signed in',
      answer: [201, issue],
      send: { title: 'New' },
    },
    { call: 'GET /issues/:id', may: 'administrators', answer: [200, issue], needs: ['any issue'] },
    { call: 'GET /issues_statistics', may: 'signed in', answer: [200, statistics] },
    { call: 'GET /groups/:id/issues_statistics', may: { group: 10 }, ...everyone, answer: [200, statistics] },
    { call: 'GET /projects/:id/issues_statistics', may: { project: 10 }, ...everyone, answer: [200, statistics] },
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
  ],

  things: {
    issue: createdIssue,
    'own issue': issues.own,
    'issue of another': issues.ofAnother,
    'confidential issue': async ({ server: { world, root }, parent }) => {
      const draft = { project: parent!.id, title: 'Poison', confidential: true }
      return { issue_iid: (await world.perform(root, createIssue, draft)).iid }
    },
    'any issue': async ({ server: { world, root }, server }) => {
      const project = await server.create('project', 'private')
      return { id: (await world.perform(root, createIssue, { project: project.id, title: 'Sow' })).id }
    },
  },
}
