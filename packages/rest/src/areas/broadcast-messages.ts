import {
  type BroadcastMessage,
  broadcastMessageFields,
  createBroadcastMessage,
  getBroadcastMessage,
  isMessageActive,
  listBroadcastMessages,
  removeBroadcastMessage,
  updateBroadcastMessage,
} from '@penstock/core'
import { z } from 'zod'
import { jsonShape, member, membersOf, pick } from '../routing/json-shape.ts'
import { type Area, type RouteParameters, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'

const plain = membersOf(broadcastMessageFields)

const messageShape = jsonShape<BroadcastMessage>('BroadcastMessage', {
  ...pick(plain, 'id', 'message', 'startsAt', 'endsAt', 'color', 'font', 'targetAccessLevels', 'targetPath'),
  ...pick(plain, 'broadcastType', 'theme', 'dismissable'),
  active: member(z.boolean(), (message, { nowMs }) => isMessageActive(message, nowMs)),
})

const changes = {
  noEffect: { active: 'it follows from `starts_at` and `ends_at`; clients send back what they have read' },
} satisfies RouteParameters
const ofMessage = { names: { broadcastMessageId: 'id' } } as const

export const broadcastMessagesArea: Area = {
  tag: 'Broadcast messages',
  routes: [
    route({
      method: 'GET',
      path: '/broadcast_messages',
      operation: listBroadcastMessages,
      ignoresCredentials: true,
      parameters: orderedList,
      summary: 'List all broadcast messages, the newest first.',
      shape: messageShape,
    }),
    route({
      method: 'GET',
      path: '/broadcast_messages/:id',
      operation: getBroadcastMessage,
      ignoresCredentials: true,
      summary: 'Get a broadcast message.',
      shape: messageShape,
      ...ofMessage,
    }),
    route({
      method: 'POST',
      path: '/broadcast_messages',
      operation: createBroadcastMessage,
      parameters: changes,
      summary: 'Create a broadcast message, which everyone can read.',
      shape: messageShape,
    }),
    route({
      method: 'PUT',
      path: '/broadcast_messages/:id',
      operation: updateBroadcastMessage,
      parameters: changes,
      summary: 'Change a broadcast message.',
      shape: messageShape,
      ...ofMessage,
    }),
    route({
      method: 'DELETE',
      path: '/broadcast_messages/:id',
      operation: removeBroadcastMessage,
      summary: 'Delete a broadcast message.',
      ...ofMessage,
    }),
  ],
}
