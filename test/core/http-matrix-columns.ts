import { type Answer, leastLevel, type MatrixRow } from './http-matrix-row.ts'

export type Visibility = 'private' | 'internal' | 'public'

/** The sender of a request. `least` is a user with the least sufficient role, or without a role if none is needed. */
export type Caller = 'anonymous' | 'stranger' | 'below' | 'least' | 'administrator'

/** The credential of a request. */
export interface Credential {
  readonly type:
    | 'nothing'
    | 'personal'
    | 'impersonation'
    | 'OAuth'
    | 'project token'
    | 'group token'
    /** The token of a project that is unrelated to the requested one. */
    | 'token of another project'
    | 'job'
    | 'ended job'
    | 'deploy token header'
    | 'deploy token'
    | 'unknown'
    | 'revoked'
    | 'blocked'
    | 'session'
    | 'session with CSRF token'
  readonly scope?: 'api' | 'read_api' | 'read_user' | 'email' | 'sudo'
  /** The user to impersonate with the `Sudo` header. */
  readonly sudo?: Caller | 'ghost'
}

export interface Column {
  readonly name: string
  readonly caller: Caller
  readonly credential: Credential
  readonly visibility: Visibility
  /** `:id` is that of no group or project. */
  readonly hasUnknownId?: true
  readonly expected: Answer | 'success'
}

export const isRead = ({ call }: MatrixRow): boolean => call.startsWith('GET ')

/** Returns the kind of parent that a row is about, or `undefined` if it is about none. */
export function parentKind({ may }: MatrixRow): 'group' | 'project' | undefined {
  if (typeof may === 'string') return undefined
  return 'group' in may ? 'group' : 'project'
}

const message = (status: number, text: string): Answer => ({ status, body: { message: text } })
// The answers of GitLab, which clients match on.
const unauthorized = message(401, '401 Unauthorized')
const forbidden = message(403, '403 Forbidden')
const hidden = { group: message(404, '404 Group Not Found'), project: message(404, '404 Project Not Found') }
const revoked: Answer = {
  status: 401,
  body: {
    message: '401 Unauthorized',
    error: 'invalid_token',
    error_description: 'Token was revoked. You have to re-authorize from the user.',
  },
}
const insufficient = (...scopes: readonly string[]): Answer => ({
  status: 403,
  body: {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: scopes.join(' '),
  },
})
const acceptedScopes = (row: MatrixRow) => ['api', ...(isRead(row) ? ['read_api'] : []), ...(row.scopes ?? [])]

/** Returns the callers and credentials with which a row is requested, and the expected answers. */
export function matrixColumns(row: MatrixRow): Column[] {
  const kind = parentKind(row)
  const asAnonymous = (visibility: Visibility): Answer | 'success' => {
    if (row.may === 'anyone') return 'success'
    if (kind === undefined || row.visitors !== 'anyone') return unauthorized
    return visibility === 'public' ? 'success' : hidden[kind]
  }
  const asStranger = (visibility: Visibility): Answer | 'success' => {
    if (kind === undefined) return row.may === 'administrators' ? forbidden : 'success'
    if (visibility === 'private') return hidden[kind]
    return row.visitors === undefined ? forbidden : 'success'
  }
  const withScope = (scope: string) =>
    acceptedScopes(row).includes(scope) ? 'success' : insufficient(...acceptedScopes(row))
  const least = (name: string, credential: Credential, expected: Answer | 'success' = 'success') =>
    [name, 'least', credential, expected] as const
  const anonymous = (name: string, credential: Credential) =>
    [name, 'anonymous', credential, asAnonymous('private')] as const

  const everywhere = [
    anonymous('anonymous', { type: 'nothing' }),
    least('least role', { type: 'personal' }),
    ['administrator', 'administrator', { type: 'personal' }, 'success'],

    least('read_api', { type: 'personal', scope: 'read_api' }, withScope('read_api')),
    least('read_user', { type: 'personal', scope: 'read_user' }, withScope('read_user')),
    least('email', { type: 'OAuth', scope: 'email' }, withScope('email')),

    least('impersonation', { type: 'impersonation' }),
    least('OAuth', { type: 'OAuth' }),
    least('group token', { type: 'group token' }, kind === undefined ? asStranger('private') : 'success'),
    least('project token', { type: 'project token' }, kind === 'project' ? 'success' : asStranger('private')),
    row.job ? least('job', { type: 'job' }) : anonymous('job', { type: 'job' }),
    row.job ? least('ended job', { type: 'ended job' }, unauthorized) : anonymous('ended job', { type: 'ended job' }),
    anonymous('deploy token in its header', { type: 'deploy token header' }),
    ['deploy token', 'anonymous', { type: 'deploy token' }, unauthorized],
    ['unknown token', 'anonymous', { type: 'unknown' }, unauthorized],
    least('revoked token', { type: 'revoked' }, revoked),
    least(
      'token of a blocked user',
      { type: 'blocked' },
      message(403, '403 Forbidden - Your account has been blocked.'),
    ),

    least('sudo', { type: 'personal', scope: 'sudo', sudo: 'least' }),
    [
      'sudo without administrator rights',
      'stranger',
      { type: 'personal', sudo: 'administrator' },
      message(403, '403 Forbidden - Must be admin to use sudo'),
    ],
    ['sudo without its scope', 'administrator', { type: 'personal', sudo: 'least' }, insufficient('sudo')],
    [
      'sudo to an unknown user',
      'administrator',
      { type: 'personal', scope: 'sudo', sudo: 'ghost' },
      message(404, '404 User with ID or username ghost Not Found'),
    ],
    [
      'sudo by session',
      'administrator',
      { type: 'session with CSRF token', sudo: 'least' },
      message(403, '403 Forbidden - Must be authenticated using an OAuth or personal access token to use sudo'),
    ],
  ] satisfies Cell[]
  const sessions = isRead(row)
    ? [least('session', { type: 'session' })]
    : [
        anonymous('session, no CSRF token', { type: 'session' }),
        least('session, CSRF token', { type: 'session with CSRF token' }),
      ]
  const strangers: Cell[] =
    row.may === 'administrators' ? [['stranger', 'stranger', { type: 'personal' }, asStranger('private')]] : []
  const about = kind === undefined ? [] : aboutParent(row, kind)
  const onPrivate = [...everywhere, ...sessions, ...strangers].map((cell) => toColumn(cell, 'private'))
  const onOthers = (['private', 'internal', 'public'] as const).flatMap((visibility) =>
    kind === undefined
      ? []
      : [
          toColumn([`stranger, ${visibility}`, 'stranger', { type: 'personal' }, asStranger(visibility)], visibility),
          toColumn([`anonymous, ${visibility}`, 'anonymous', { type: 'nothing' }, asAnonymous(visibility)], visibility),
        ],
  )
  return [...onPrivate, ...onOthers, ...about].map((column) => ({
    ...column,
    expected: row.except?.[column.name] ?? (row.ignoresCredentials ? 'success' : column.expected),
  }))
}

type Cell = readonly [name: string, caller: Caller, credential: Credential, expected: Answer | 'success']

const toColumn = ([name, caller, credential, expected]: Cell, visibility: Visibility): Column => ({
  name,
  caller,
  credential,
  expected,
  visibility,
})

function aboutParent(row: MatrixRow, kind: 'group' | 'project'): Column[] {
  // Below Guest there is only Minimal access, which is not inherited: with it, the group above gives access to nothing.
  const below = leastLevel(row) === 10 ? hidden[kind] : forbidden
  // A bot of another project may do what anonymous callers may do, but is answered as a signed-in user.
  const elsewhere = (visibility: Visibility, expected: Answer | 'success') =>
    toColumn(
      [`bot of another project, ${visibility}`, 'least', { type: 'token of another project' }, expected],
      visibility,
    )
  return [
    elsewhere('private', hidden[kind]),
    elsewhere('internal', hidden[kind]),
    elsewhere('public', row.visitors === 'anyone' ? 'success' : forbidden),
    toColumn(['one role below', 'below', { type: 'personal' }, below], 'private'),
    // A missing parent is answered like a hidden one, so that callers cannot distinguish them.
    {
      ...toColumn(['unknown parent', 'administrator', { type: 'personal' }, hidden[kind]], 'private'),
      hasUnknownId: true,
    },
  ]
}
