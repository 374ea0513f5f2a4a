import { createGroupToken, createImpersonationToken, createProjectToken } from '@penstock/core'
import { type Answer, forbidden, leastOf, type MatrixRow, notByBots, parentKinds } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

/** The members of a token. Its value is shown only when it is created or rotated. */
const tokenMembers = {
  id: 'int',
  name: 'text',
  revoked: 'flag',
  active: 'flag',
  created_at: 'time',
  expires_at: 'date?',
  last_used_at: 'time?',
  scopes: { listOf: 'text' },
  user_id: 'int',
} as const
const token: Shape = { has: tokenMembers, lacks: ['token', 'digest'] }
const issuedToken: Shape = { has: { ...tokenMembers, token: 'text' }, lacks: ['digest'] }

const noToken: Answer = {
  status: 400,
  body: { message: 'This endpoint requires token type to be a personal access token' },
}
const notFound: Answer = { status: 404, body: { message: '404 Not found' } }
const unauthorized: Answer = { status: 401, body: { message: '401 Unauthorized' } }

/** Credentials that are not access tokens. */
const withoutToken = { OAuth: noToken, 'session, CSRF token': noToken }
/** Only the bot itself may do this. Other tokens are answered as if the project or group had no such token. */
const onlyTheBot = {
  ...withoutToken,
  'least role': notFound,
  administrator: notFound,
  impersonation: notFound,
  sudo: notFound,
  'stranger, internal': notFound,
  'stranger, public': notFound,
  'bot of another project, public': notFound,
} as const
/** Bots may not create tokens in any role, because a token created by a bot would outlive the bot's own token. */
const notByBotsByKind = {
  project: notByBots,
  group: { 'group token': forbidden },
}
const draft = { name: 'ci', scopes: ['read_api'], access_level: 10 }
const selfRotate = ['self_rotate']

export const area: MatrixArea = {
  access: {
    admin_access_tokens: {
      rule: 'Maintainers and higher manage the tokens of a project',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
    admin_group_access_tokens: {
      rule: 'Owners manage the tokens of a group',
      group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [
    {
      call: 'GET /personal_access_tokens',
      may: 'signed in',
      answer: [200, listOf(token)],
      mayBeEmpty: true,
    },
    {
      call: 'GET /personal_access_tokens/self',
      may: 'signed in',
      answer: [200, token],
      scopes: ['read_user', 'self_rotate'],
      except: { OAuth: noToken, session: noToken },
    },
    {
      call: 'DELETE /personal_access_tokens/self',
      may: 'signed in',
      answer: [204],
      scopes: selfRotate,
      except: withoutToken,
      endsCredential: true,
    },
    {
      call: 'POST /personal_access_tokens/self/rotate',
      may: 'signed in',
      answer: [200, issuedToken],
      scopes: selfRotate,
      except: withoutToken,
      endsCredential: true,
    },
    {
      call: 'GET /personal_access_tokens/:id : of the caller',
      may: 'signed in',
      answer: [200, token],
      needs: ['own token'],
    },
    {
      call: 'DELETE /personal_access_tokens/:id : of the caller',
      may: 'signed in',
      answer: [204],
      needs: ['own token'],
    },
    {
      call: 'POST /personal_access_tokens/:id/rotate : of the caller',
      may: 'signed in',
      answer: [200, issuedToken],
      needs: ['own token'],
    },
    // Only administrators can distinguish the tokens of other users from missing ones.
    ...(
      [
        ['GET /personal_access_tokens/:id', [200, token]],
        ['DELETE /personal_access_tokens/:id', [204]],
        ['POST /personal_access_tokens/:id/rotate', [200, issuedToken]],
      ] as const
    ).map(
      ([call, answer]): MatrixRow => ({
        call: `${call} : of another`,
        may: 'administrators',
        answer,
        needs: ['personal token'],
        except: { stranger: unauthorized, 'project token': unauthorized, 'group token': unauthorized },
      }),
    ),
    {
      call: 'POST /users/:user_id/personal_access_tokens',
      may: 'administrators',
      answer: [201, issuedToken],
      needs: ['user'],
      send: { name: 'ci', scopes: ['read_api'] },
    },
    {
      call: 'GET /users/:user_id/impersonation_tokens',
      may: 'administrators',
      answer: [200, listOf(token)],
      needs: ['impersonation token'],
      scopes: ['read_user'],
    },
    {
      call: 'GET /users/:user_id/impersonation_tokens/:impersonation_token_id',
      may: 'administrators',
      answer: [200, token],
      needs: ['impersonation token'],
      scopes: ['read_user'],
    },
    {
      call: 'POST /users/:user_id/impersonation_tokens',
      may: 'administrators',
      answer: [201, issuedToken],
      needs: ['user'],
      send: { name: 'ci', scopes: ['read_api'] },
    },
    {
      call: 'DELETE /users/:user_id/impersonation_tokens/:impersonation_token_id',
      may: 'administrators',
      answer: [204],
      needs: ['impersonation token'],
    },
    // Maintainers manage the tokens of a project, Owners those of a group.
    ...parentKinds.flatMap((kind): MatrixRow[] => {
      const all = `/${kind}s/:id/access_tokens`
      const may = leastOf(kind, kind === 'project' ? 40 : 50)
      const needs = [`${kind} token`] as const
      return [
        { call: `GET ${all}`, may, answer: [200, listOf(token)], needs },
        { call: `GET ${all}/:token_id`, may, answer: [200, token], needs },
        { call: `POST ${all}`, may, answer: [201, issuedToken], send: draft, except: notByBotsByKind[kind] },
        { call: `DELETE ${all}/:token_id`, may, answer: [204], needs },
        { call: `POST ${all}/:token_id/rotate`, may, answer: [200, issuedToken], needs },
        {
          call: `POST ${all}/self/rotate`,
          may: leastOf(kind, 10),
          visitors: 'signed in',
          answer: [200, issuedToken],
          scopes: selfRotate,
          except: kind === 'project' ? { ...onlyTheBot, 'group token': notFound } : onlyTheBot,
          endsCredential: true,
        },
      ]
    }),
  ],

  things: {
    'own token': async ({ server, caller }) => ({ id: (await server.personalToken(caller, ['api'])).id }),
    'personal token': async ({ server }) => ({
      id: (await server.personalToken(await server.createUser(), ['api'])).id,
    }),
    'impersonation token': async ({ server: { world, root }, server }) => {
      const user = await server.createUser()
      const draft = { userId: user.id, name: 'i', scopes: ['api'] }
      const { id } = await world.perform(root, createImpersonationToken, draft)
      return { user_id: user.id, impersonation_token_id: id }
    },
    'project token': async ({ server: { world, root }, parent }) => {
      const draft = { project: parent!.id, name: 'bot', scopes: ['api'], accessLevel: 10 }
      return { token_id: (await world.perform(root, createProjectToken, draft)).id }
    },
    'group token': async ({ server: { world, root }, parent }) => {
      const draft = { group: parent!.id, name: 'bot', scopes: ['api'], accessLevel: 10 }
      return { token_id: (await world.perform(root, createGroupToken, draft)).id }
    },
  },
}
