import { groupDeployTokens, projectDeployTokens } from '@penstock/core'
import { leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const members = {
  id: 'int',
  name: 'text',
  username: 'text',
  expires_at: 'time?',
  scopes: { listOf: 'text' },
  revoked: 'flag',
  expired: 'flag',
} as const
const token: Shape = { exactly: members }
const issued: Shape = { exactly: { ...members, token: 'text' } }
const draft = { name: 'registry', scopes: ['read_registry'] }

export const area: MatrixArea = {
  access: {
    read_deploy_token: {
      rule: 'Maintainers and higher',
      group: '--nnnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
    admin_deploy_token: {
      rule: 'Maintainers and higher, in projects',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
    admin_group_deploy_token: {
      rule: 'Owners, in groups',
      group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [
    { call: 'GET /deploy_tokens', may: 'administrators', answer: [200, listOf(token)], mayBeEmpty: true },
    ...parentKinds.flatMap((kind): MatrixRow[] => {
      const all = `/${kind}s/:id/deploy_tokens`
      const reads = { may: leastOf(kind, 40), needs: [`${kind} deploy token`] } as const
      const may = leastOf(kind, kind === 'project' ? 40 : 50)
      return [
        { call: `GET ${all}`, ...reads, answer: [200, listOf(token)] },
        { call: `GET ${all}/:token_id`, ...reads, answer: [200, token] },
        { call: `POST ${all}`, may, answer: [201, issued], send: draft },
        { call: `DELETE ${all}/:token_id`, ...reads, may, answer: [204] },
      ]
    }),
  ],

  things: {
    'project deploy token': async ({ server: { world, root }, parent }) => ({
      token_id: (await world.perform(root, projectDeployTokens.create, { parent: parent!.id, ...draft })).id,
    }),
    'group deploy token': async ({ server: { world, root }, parent }) => ({
      token_id: (await world.perform(root, groupDeployTokens.create, { parent: parent!.id, ...draft })).id,
    }),
  },
}
