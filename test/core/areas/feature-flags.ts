import { createFeatureFlag, createUserList } from '@penstock/core'
import type { MatrixRow } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const flag: Shape = {
  exactly: {
    name: 'text',
    description: 'text?',
    active: 'flag',
    version: 'text',
    created_at: 'time',
    updated_at: 'time',
    scopes: { listOf: 'map' },
    strategies: { listOf: 'map' },
  },
}
const list: Shape = {
  exactly: {
    id: 'int',
    iid: 'int',
    name: 'text',
    user_xids: 'text',
    project_id: 'int',
    created_at: 'time',
    updated_at: 'time',
  },
}

const flags = '/projects/:id/feature_flags'
const oneFlag = `${flags}/:feature_flag_name`
const lists = '/projects/:id/feature_flags_user_lists'
const oneList = `${lists}/:iid`
const may = { project: 30 } as const
const needsFlag = { may, needs: ['feature flag'] } as const
const needsList = { may, needs: ['user list'] } as const

export const area: MatrixArea = {
  access: {
    read_feature_flag: {
      rule: 'Developers and higher, also in archived projects',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    admin_feature_flag: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
  },

  rows: [
    { call: `GET ${flags}`, ...needsFlag, answer: [200, listOf(flag)] },
    { call: `GET ${oneFlag}`, ...needsFlag, answer: [200, flag] },
    { call: `POST ${flags}`, may, answer: [201, flag], send: { name: '{new}' } },
    { call: `PUT ${oneFlag}`, ...needsFlag, answer: [200, flag], send: { active: false } },
    { call: `DELETE ${oneFlag}`, ...needsFlag, answer: [200, flag] },
    { call: `GET ${lists}`, ...needsList, answer: [200, listOf(list)] },
    { call: `GET ${oneList}`, ...needsList, answer: [200, list] },
    { call: `POST ${lists}`, may, answer: [201, list], send: { name: '{new}', user_xids: '1,2' } },
    { call: `PUT ${oneList}`, ...needsList, answer: [200, list], send: { user_xids: '3' } },
    { call: `DELETE ${oneList}`, ...needsList, answer: [204] },
  ] satisfies MatrixRow[],

  things: {
    'feature flag': async ({ server, parent }) => {
      const draft = { project: parent!.id, name: server.word('flag') }
      return { feature_flag_name: (await server.world.perform(server.root, createFeatureFlag, draft)).name }
    },
    'user list': async ({ server, parent }) => {
      const draft = { project: parent!.id, name: server.word('list'), userXids: '1' }
      return { iid: (await server.world.perform(server.root, createUserList, draft)).iid }
    },
  },
}
