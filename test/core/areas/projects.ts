import { starProject } from '@penstock/core'
import { type Answer, notByBots } from '../http-matrix-row.ts'
import { accepted, basicUser, listOf, project } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

/** GitLab answers a forbidden namespace of a new project like a missing one. */
const noSuchPlace: Answer = { status: 400, body: { message: { namespace: ['is not valid'] } } }
const everyone = { visitors: 'anyone' } as const

export const area: MatrixArea = {
  access: {
    create_project: {
      rule: 'Developers and higher',
      group: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    read_project: {
      rule: 'a project that is not visible is not found; anonymous callers see public data',
      project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    star_project: {
      rule: 'everyone who sees the project and is signed in',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    read_statistics: {
      rule: 'Reporters and higher',
      project: '---nnyyyyyy -nnnnyyyyyy nnnnnyyyyyy',
    },
    admin_project: {
      rule: 'Maintainers and higher change the settings of a project',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
    change_project_visibility: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
    remove_project: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
    archive_project: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
    transfer_project: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [
    { call: 'GET /projects', may: 'anyone', answer: [200, listOf(project)] },
    {
      call: 'POST /projects : of one’s own',
      may: 'signed in',
      answer: [201, project],
      send: { name: '{new}' },
      except: notByBots,
    },
    {
      call: 'POST /projects : in a group',
      may: { group: 30 },
      answer: [201, project],
      send: { name: 'new', namespace_id: '{id}' },
      except: {
        'stranger, private': noSuchPlace,
        'stranger, internal': noSuchPlace,
        'stranger, public': noSuchPlace,
        'one role below': noSuchPlace,
        'project token': noSuchPlace,
        'bot of another project, private': noSuchPlace,
        'bot of another project, internal': noSuchPlace,
        'bot of another project, public': noSuchPlace,
        'unknown parent': noSuchPlace,
      },
    },
    {
      call: 'GET /projects/:id',
      may: { project: 10 },
      ...everyone,
      answer: [200, project],
    },
    {
      call: 'PUT /projects/:id',
      may: { project: 40 },
      answer: [200, project],
      send: { description: 'x' },
    },
    {
      call: 'PUT /projects/:id : its visibility',
      may: { project: 50 },
      answer: [200, project],
      send: { visibility: 'internal' },
    },
    { call: 'DELETE /projects/:id', may: { project: 50 }, answer: [202, accepted] },
    { call: 'POST /projects/:id/archive', may: { project: 50 }, answer: [201, project] },
    { call: 'POST /projects/:id/unarchive', may: { project: 50 }, answer: [201, project] },
    { call: 'POST /projects/:id/star', may: { project: 10 }, visitors: 'signed in', answer: [201, project] },
    {
      call: 'POST /projects/:id/unstar',
      may: { project: 10 },
      visitors: 'signed in',
      answer: [201, project],
      needs: ['star of the caller'],
    },
    {
      call: 'GET /projects/:id/starrers',
      may: { project: 10 },
      ...everyone,
      answer: [200, listOf({ exactly: { starred_since: 'time', user: basicUser } })],
      needs: ['star'],
    },
    {
      call: 'PUT /projects/:id/transfer',
      may: { project: 50 },
      answer: [200, project],
      needs: ['target group'],
      send: { namespace: '{target}' },
      // A bot has access to its project only.
      except: { 'project token': { status: 404, body: { message: '404 Namespace Not Found' } } },
    },
  ],

  things: {
    star: async ({ server: { world, root }, parent }) => {
      await world.perform(root, starProject, { project: parent!.id })
      return {}
    },
    'star of the caller': async ({ server: { world }, parent, caller }) => {
      await world.perform(caller, starProject, { project: parent!.id }).catch(() => {})
      return {}
    },
    'target group': async ({ server }) => ({ target: (await server.create('group', 'private')).id }),
  },
}
