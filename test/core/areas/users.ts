import type { User } from '@penstock/core'
import { type Answer, forbidden } from '../http-matrix-row.ts'
import type { MatrixServer } from '../http-matrix-server.ts'
import { basicUserMembers, listOf, project, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea, Values } from '../matrix-area.ts'

/** The user as shown to themselves and to administrators. */
const wholeUser: Shape = {
  has: { ...basicUserMembers, created_at: 'time', email: 'text', is_admin: 'flag' },
  lacks: ['password', 'password_hash'],
}
const user: Shape = { has: basicUserMembers, lacks: ['password', 'password_hash'] }
const done: Shape = { is: true }

/** A bot sees only the members of its project or group. */
const noSuchUser: Answer = { status: 404, body: { message: '404 User Not Found' } }
const readUser = ['read_user']
const onAdministrators = { may: 'administrators' } as const

export const area: MatrixArea = {
  access: {},

  rows: [
    {
      call: 'GET /user',
      may: 'signed in',
      answer: [200, wholeUser],
      scopes: readUser,
    },
    {
      call: 'GET /users : by name',
      may: 'anyone',
      answer: [200, listOf(user)],
      needs: ['user'],
      send: { username: '{username}' },
      scopes: readUser,
    },
    {
      call: 'GET /users : all',
      may: 'signed in',
      answer: [200, listOf(user)],
      scopes: readUser,
      except: Object.fromEntries(
        ['anonymous', 'deploy token in its header', 'job', 'ended job', 'project token', 'group token'].map(
          (column) => [column, forbidden],
        ),
      ),
    },
    {
      call: 'GET /user/activities',
      may: 'administrators',
      answer: [200, listOf({ exactly: { username: 'text', last_activity_on: 'text', last_activity_at: 'text' } })],
      mayBeEmpty: true,
    },
    {
      call: 'GET /users/:id',
      may: 'signed in',
      answer: [200, user],
      needs: ['user'],
      scopes: readUser,
      except: { 'project token': noSuchUser, 'group token': noSuchUser },
    },
    {
      call: 'GET /users/:id/projects',
      may: 'anyone',
      answer: [200, listOf(project)],
      needs: ['user'],
      scopes: readUser,
      mayBeEmpty: true,
    },
    {
      call: 'GET /users/:id/starred_projects',
      may: 'anyone',
      answer: [200, listOf(project)],
      needs: ['user'],
      scopes: readUser,
      mayBeEmpty: true,
    },
    {
      call: 'POST /users',
      ...onAdministrators,
      answer: [201, wholeUser],
      send: { email: '{new}@example.test', username: '{new}', name: 'New', force_random_password: true },
    },
    { call: 'PUT /users/:id', ...onAdministrators, answer: [200, wholeUser], needs: ['user'], send: { name: 'Other' } },
    { call: 'DELETE /users/:id', ...onAdministrators, answer: [204], needs: ['user'] },
    { call: 'POST /users/:id/block', ...onAdministrators, answer: [201, done], needs: ['user'] },
    { call: 'POST /users/:id/unblock', ...onAdministrators, answer: [201, done], needs: ['blocked user'] },
    { call: 'POST /users/:id/activate', ...onAdministrators, answer: [201, done], needs: ['deactivated user'] },
    { call: 'POST /users/:id/deactivate', ...onAdministrators, answer: [201, done], needs: ['user'] },
  ],

  things: {
    user: async ({ server }) => valuesOf(await server.createUser()),
    'blocked user': ({ server }) => userInState(server, 'blocked'),
    'deactivated user': ({ server }) => userInState(server, 'deactivated'),
  },
}

const valuesOf = ({ id, username }: User): Values => ({ id, user_id: id, username })

async function userInState(server: MatrixServer, state: 'blocked' | 'deactivated'): Promise<Values> {
  const user = await server.createUser()
  await server.world.core.db.write((db) => db.updateTable('users').set({ state }).where('id', '=', user.id).execute())
  return valuesOf(user)
}
