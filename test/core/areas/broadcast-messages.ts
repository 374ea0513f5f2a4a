import { createBroadcastMessage } from '@penstock/core'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const message: Shape = {
  exactly: {
    id: 'int',
    message: 'text',
    starts_at: 'time',
    ends_at: 'time',
    color: 'text',
    font: 'text',
    target_access_levels: { listOf: 'int' },
    target_path: 'text?',
    broadcast_type: 'text',
    theme: 'text',
    dismissable: 'flag',
    active: 'flag',
  },
}
const needs = ['broadcast message']

export const area: MatrixArea = {
  access: {},
  rows: [
    {
      call: 'GET /broadcast_messages',
      may: 'anyone',
      ignoresCredentials: true,
      answer: [200, listOf(message)],
      needs,
    },
    { call: 'GET /broadcast_messages/:id', may: 'anyone', ignoresCredentials: true, answer: [200, message], needs },
    {
      call: 'POST /broadcast_messages',
      may: 'administrators',
      answer: [201, message],
      send: { message: 'Maintenance on Sunday', target_access_levels: [30, 40] },
    },
    {
      call: 'PUT /broadcast_messages/:id',
      may: 'administrators',
      answer: [200, message],
      needs,
      send: { theme: 'red' },
    },
    { call: 'DELETE /broadcast_messages/:id', may: 'administrators', answer: [204], needs },
  ],
  things: {
    'broadcast message': async ({ server: { world, root } }) => ({
      id: (await world.perform(root, createBroadcastMessage, { message: 'Maintenance', targetPath: '*/welcome' })).id,
    }),
  },
}
