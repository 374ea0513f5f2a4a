import { type Answer, leastOf, type MatrixRow } from './http-matrix-row.ts'
import {
  accepted,
  done,
  email,
  group,
  listOf,
  member,
  project,
  user,
  version,
  wholeUser,
} from './http-matrix-shapes.ts'

const forbidden: Answer = { status: 403, body: { message: '403 Forbidden' } }
/** GitLab answers a forbidden namespace of a new project like a missing one. */
const noSuchPlace: Answer = { status: 400, body: { message: { namespace: ['is not valid'] } } }
/** A bot sees only the members of its project or group. */
const noSuchUser: Answer = { status: 404, body: { message: '404 User Not Found' } }
const notByBots = { 'project token': forbidden, 'group token': forbidden }
const readUser = ['read_user']
const everyone = { visitors: 'anyone' } as const
const onAdministrators = { may: 'administrators' } as const

/**
 * Users, groups, projects and members. Roles in groups and projects are those of GitLab's table of permissions.
 */
export const identityRows: readonly MatrixRow[] = [
  { call: 'GET /version', may: 'signed in', answer: [200, version], scopes: readUser },
  { call: 'GET /metadata', may: 'signed in', answer: [200, version], scopes: readUser },

  {
    call: 'GET /user',
    may: 'signed in',
    answer: [200, wholeUser],
    scopes: readUser,
  },
  {
    call: 'GET /user/emails',
    may: 'signed in',
    answer: [200, listOf(email)],
    scopes: ['read_user', 'email'],
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
      ['anonymous', 'deploy token in its header', 'job', 'ended job', 'project token', 'group token'].map((column) => [
        column,
        forbidden,
      ]),
    ),
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
  {
    call: 'PUT /projects/:id/transfer',
    may: { project: 50 },
    answer: [200, project],
    needs: ['target group'],
    send: { namespace: '{target}' },
    // A bot has access to its project only.
    except: { 'project token': { status: 404, body: { message: '404 Namespace Not Found' } } },
  },

  // Maintainers manage the members of a project, Owners those of a group.
  ...(['project', 'group'] as const).flatMap((kind): MatrixRow[] => {
    const all = `/${kind}s/:id/members`
    const reads = { may: leastOf(kind, 10), ...everyone } as const
    const writes = { may: leastOf(kind, kind === 'project' ? 40 : 50) } as const
    return [
      { call: `GET ${all}`, ...reads, answer: [200, listOf(member)], needs: ['member'] },
      { call: `GET ${all}/all`, ...reads, answer: [200, listOf(member)] },
      { call: `GET ${all}/:user_id`, ...reads, answer: [200, member], needs: ['member'] },
      { call: `GET ${all}/all/:user_id`, ...reads, answer: [200, member], needs: ['member'] },
      {
        call: `POST ${all}`,
        ...writes,
        answer: [201, member],
        needs: ['user'],
        send: { user_id: '{user_id}', access_level: 20 },
      },
      { call: `PUT ${all}/:user_id`, ...writes, answer: [200, member], needs: ['member'], send: { access_level: 20 } },
      { call: `DELETE ${all}/:user_id`, ...writes, answer: [204], needs: ['member'] },
    ]
  }),
]
