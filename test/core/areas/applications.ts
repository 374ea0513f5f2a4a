import { createApplication } from '@penstock/core'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const members = {
  id: 'int',
  application_id: 'text',
  application_name: 'text',
  callback_url: 'text',
  confidential: 'flag',
  scopes: { listOf: 'text' },
} as const
const application: Shape = { exactly: members }
const withSecret: Shape = { exactly: { ...members, secret: 'text' } }

export const area: MatrixArea = {
  access: {},
  rows: [
    {
      call: 'GET /applications',
      may: 'administrators',
      answer: [200, listOf(application)],
      needs: ['application'],
    },
    {
      call: 'POST /applications',
      may: 'administrators',
      answer: [200, withSecret],
      send: { name: 'Board', redirect_uri: 'https://board.example.test/cb', scopes: 'api read_user' },
    },
    { call: 'DELETE /applications/:id', may: 'administrators', answer: [204], needs: ['application'] },
    {
      call: 'POST /applications/:id/renew-secret',
      may: 'administrators',
      answer: [200, withSecret],
      needs: ['application'],
    },
  ],
  things: {
    application: async ({ server: { world, root } }) => {
      const draft = { name: 'Board', redirectUri: 'https://board.example.test/cb', scopes: 'api' }
      return { id: (await world.perform(root, createApplication, draft)).id }
    },
  },
}
