import { type Answer, leastOf, type MatrixRow } from './http-matrix-row.ts'
import { issuedToken, listOf, token } from './http-matrix-shapes.ts'

const noToken: Answer = {
  status: 400,
  body: { message: 'This endpoint requires token type to be a personal access token' },
}
const notFound: Answer = { status: 404, body: { message: '404 Not found' } }
const unauthorized: Answer = { status: 401, body: { message: '401 Unauthorized' } }
const forbidden: Answer = { status: 403, body: { message: '403 Forbidden' } }

/** What has no token of its own to be asked about. */
const withoutToken = { OAuth: noToken, 'session, CSRF token': noToken }
/** Only the bot itself; whoever asks with a token of another kind hears that the project or group has no such token. */
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
/** A bot that made others would outlive its token: refused to bots, whatever their role. */
const notByBots = {
  project: { 'project token': forbidden, 'group token': forbidden },
  group: { 'group token': forbidden },
}
const draft = { name: 'ci', scopes: ['read_api'], access_level: 10 }
const selfRotate = ['self_rotate']

/** interface-1 5.1, rest-part2-details 2.2, 2.3, 2.6 */
export const tokenRows: readonly MatrixRow[] = [
  {
    call: 'GET /personal_access_tokens',
    spec: 'rest-part2-details 2.6; platform',
    may: 'signed in',
    answer: [200, listOf(token)],
    mayBeEmpty: true,
  },
  {
    call: 'GET /personal_access_tokens/self',
    spec: 'platform',
    may: 'signed in',
    answer: [200, token],
    scopes: ['read_user', 'self_rotate'],
    except: { OAuth: noToken, session: noToken },
  },
  {
    call: 'DELETE /personal_access_tokens/self',
    spec: 'platform',
    may: 'signed in',
    answer: [204],
    scopes: selfRotate,
    except: withoutToken,
    endsCredential: true,
  },
  {
    call: 'POST /personal_access_tokens/self/rotate',
    spec: 'rest-part2-details 2.3',
    may: 'signed in',
    answer: [200, issuedToken],
    scopes: selfRotate,
    except: withoutToken,
    endsCredential: true,
  },
  {
    call: 'GET /personal_access_tokens/:id : of the caller',
    spec: 'platform',
    may: 'signed in',
    answer: [200, token],
    needs: ['own token'],
  },
  {
    call: 'DELETE /personal_access_tokens/:id : of the caller',
    spec: 'platform',
    may: 'signed in',
    answer: [204],
    needs: ['own token'],
  },
  {
    call: 'POST /personal_access_tokens/:id/rotate : of the caller',
    spec: 'platform',
    may: 'signed in',
    answer: [200, issuedToken],
    needs: ['own token'],
  },
  // Those of others are told from such as there are not only to administrators.
  ...(
    [
      ['GET /personal_access_tokens/:id', [200, token]],
      ['DELETE /personal_access_tokens/:id', [204]],
      ['POST /personal_access_tokens/:id/rotate', [200, issuedToken]],
    ] as const
  ).map(
    ([call, answer]): MatrixRow => ({
      call: `${call} : of another`,
      spec: 'platform',
      may: 'administrators',
      answer,
      needs: ['personal token'],
      except: { stranger: unauthorized, 'project token': unauthorized, 'group token': unauthorized },
    }),
  ),
  {
    call: 'POST /users/:user_id/personal_access_tokens',
    spec: 'platform',
    may: 'administrators',
    answer: [201, issuedToken],
    needs: ['user'],
    send: { name: 'ci', scopes: ['read_api'] },
  },
  {
    call: 'GET /users/:user_id/impersonation_tokens',
    spec: 'interface-1 5.1; rest-part2-details 2.3',
    may: 'administrators',
    answer: [200, listOf(token)],
    needs: ['impersonation token'],
    scopes: ['read_user'],
  },
  {
    call: 'GET /users/:user_id/impersonation_tokens/:impersonation_token_id',
    spec: 'interface-1 5.1; rest-part2-details 2.3',
    may: 'administrators',
    answer: [200, token],
    needs: ['impersonation token'],
    scopes: ['read_user'],
  },
  {
    call: 'POST /users/:user_id/impersonation_tokens',
    spec: 'interface-1 5.1',
    may: 'administrators',
    answer: [201, issuedToken],
    needs: ['user'],
    send: { name: 'ci', scopes: ['read_api'] },
  },
  {
    call: 'DELETE /users/:user_id/impersonation_tokens/:impersonation_token_id',
    spec: 'interface-1 5.1',
    may: 'administrators',
    answer: [204],
    needs: ['impersonation token'],
  },
  // Of a project a Maintainer's business, of a group an Owner's.
  ...(['project', 'group'] as const).flatMap((kind): MatrixRow[] => {
    const all = `/${kind}s/:id/access_tokens`
    const may = leastOf(kind, kind === 'project' ? 40 : 50)
    const needs = [`${kind} token`] as const
    const spec = 'rest-part2-details 2.6; platform'
    return [
      { call: `GET ${all}`, spec, may, answer: [200, listOf(token)], needs },
      { call: `GET ${all}/:token_id`, spec, may, answer: [200, token], needs },
      { call: `POST ${all}`, spec, may, answer: [201, issuedToken], send: draft, except: notByBots[kind] },
      { call: `DELETE ${all}/:token_id`, spec, may, answer: [204], needs },
      { call: `POST ${all}/:token_id/rotate`, spec, may, answer: [200, issuedToken], needs },
      {
        call: `POST ${all}/self/rotate`,
        spec,
        may: leastOf(kind, 10),
        visitors: 'signed in',
        answer: [200, issuedToken],
        scopes: selfRotate,
        except: kind === 'project' ? { ...onlyTheBot, 'group token': notFound } : onlyTheBot,
        endsCredential: true,
      },
    ]
  }),
]
