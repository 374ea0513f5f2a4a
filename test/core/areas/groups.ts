import type { Group } from '@penstock/core'
import { type MatrixRow, notByBots } from '../http-matrix-row.ts'
import { accepted, listOf, project, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const group: Shape = {
  has: {
    id: 'int',
    web_url: 'text',
    name: 'text',
    path: 'text',
    description: 'text',
    visibility: 'text',
    full_name: 'text',
    full_path: 'text',
    parent_id: 'int?',
    created_at: 'time',
    request_access_enabled: 'flag',
  },
}

const everyone = { visitors: 'anyone' } as const

export const area: MatrixArea = {
  access: {
    read_group: {
      rule: 'a group that is not visible is not found; anonymous callers see public data',
      group: '--yyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    admin_group: {
      rule: 'Owners change the settings of a group',
      group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
    remove_group: {
      rule: 'Owners',
      group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
    create_subgroup: {
      rule: 'Maintainers and higher',
      group: '--nnnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
  },

  rows: [
    { call: 'GET /groups', may: 'anyone', answer: [200, listOf(group)] },
    {
      call: 'POST /groups : at the top',
      may: 'signed in',
      answer: [201, group],
      send: { name: '{new}', path: '{new}' },
      except: notByBots,
    },
    {
      call: 'POST /groups : in a group',
      may: { group: 40 },
      answer: [201, group],
      send: { name: 'Sub', path: 'sub', parent_id: '{id}' },
    },
    {
      call: 'GET /groups/:id',
      may: { group: 10 },
      ...everyone,
      answer: [200, group],
    },
    { call: 'PUT /groups/:id', may: { group: 50 }, answer: [200, group], send: { description: 'x' } },
    { call: 'DELETE /groups/:id', may: { group: 50 }, answer: [202, accepted] },
    ...(['subgroups', 'descendant_groups'] as const).map(
      (what): MatrixRow => ({
        call: `GET /groups/:id/${what}`,
        may: { group: 10 },
        ...everyone,
        answer: [200, listOf(group)],
        needs: ['subgroup'],
      }),
    ),
    {
      call: 'GET /groups/:id/projects',
      may: { group: 10 },
      ...everyone,
      answer: [200, listOf(project)],
      needs: ['project below'],
    },
  ],

  things: {
    subgroup: async ({ server, parent }) => {
      await server.create('group', parent!.visibility, parent as Group)
      return {}
    },
    'project below': async ({ server, parent }) => {
      await server.create('project', parent!.visibility, parent as Group)
      return {}
    },
  },
}
