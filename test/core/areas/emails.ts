import { addEmailOfUser } from '@penstock/core'
import { notByBots } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const email: Shape = { exactly: { id: 'int', email: 'text', confirmed_at: 'time?' } }
const onAdministrators = { may: 'administrators' } as const

export const area: MatrixArea = {
  access: {},

  rows: [
    { call: 'GET /user/emails', may: 'signed in', answer: [200, listOf(email)], scopes: ['read_user', 'email'] },
    {
      call: 'GET /user/emails/:email_id',
      may: 'signed in',
      answer: [200, email],
      needs: ['own email'],
      scopes: ['read_user'],
    },
    {
      call: 'POST /user/emails',
      may: 'signed in',
      answer: [201, email],
      send: { email: '{new}@example.test' },
      except: notByBots,
    },
    { call: 'DELETE /user/emails/:email_id', may: 'signed in', answer: [204], needs: ['own email'] },
    { call: 'GET /users/:id/emails', ...onAdministrators, answer: [200, listOf(email)], needs: ['user'] },
    {
      call: 'POST /users/:id/emails',
      ...onAdministrators,
      answer: [201, email],
      needs: ['user'],
      send: { email: '{new}@example.test', skip_confirmation: true },
    },
    {
      call: 'DELETE /users/:id/emails/:email_id',
      ...onAdministrators,
      answer: [204],
      needs: ['user with another email'],
    },
  ],

  things: {
    'own email': async ({ server: { world }, caller }) => {
      const { id } = await world.core.db.write((db) =>
        db
          .insertInto('emails')
          .values({ user_id: caller.id, email: `${calls()}@example.test`, confirmed_at_ms: 1, created_at_ms: 1 })
          .returning('id')
          .executeTakeFirstOrThrow(),
      )
      return { email_id: id }
    },
    'user with another email': async ({ server }) => {
      const { id } = await server.createUser()
      const input = { user: id, email: `${calls()}@example.test`, skipConfirmation: true }
      return { id, email_id: (await server.world.perform(server.root, addEmailOfUser, input)).id }
    },
  },
}

let count = 0
function calls(): string {
  count += 1
  return `other-${count}`
}
