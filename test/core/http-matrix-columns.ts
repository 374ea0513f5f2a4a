import { type Answer, levelOf, type MatrixRow } from './http-matrix-row.ts'

export type Visibility = 'private' | 'internal' | 'public'

/** Who a request is from. `least` is whoever has the least role that suffices, or none where none is needed. */
export type Caller = 'nobody' | 'stranger' | 'below' | 'least' | 'administrator'

/** What it shows of itself. */
export interface Shown {
  readonly by:
    | 'nothing'
    | 'personal'
    | 'impersonation'
    | 'OAuth'
    | 'project token'
    | 'group token'
    /** The token of a project that has nothing to do with what is asked about. */
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
  /** Asks to be taken for this one. */
  readonly sudo?: Caller | 'ghost'
}

export interface Column {
  readonly name: string
  readonly caller: Caller
  readonly shown: Shown
  readonly visibility: Visibility
  /** Where `:id` names what there is not. */
  readonly isLost?: true
  readonly expected: Answer | 'success'
}

export const isRead = ({ call }: MatrixRow): boolean => call.startsWith('GET ')

/** The parent that a role is in; `undefined`: the row is about none. */
export function kindOf({ may }: MatrixRow): 'group' | 'project' | undefined {
  if (typeof may === 'string') return undefined
  return 'group' in may ? 'group' : 'project'
}

const message = (status: number, text: string): Answer => ({ status, body: { message: text } })
/** interface-1 7; rest-part2-details 1.5, 2.1, 2.2, 2.4 */
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
const scopesOf = (row: MatrixRow) => ['api', ...(isRead(row) ? ['read_api'] : []), ...(row.scopes ?? [])]

/** All that one row is asked with, and what must come of it. */
export function columnsOf(row: MatrixRow): Column[] {
  const kind = kindOf(row)
  const asNobody = (visibility: Visibility): Answer | 'success' => {
    if (row.may === 'anyone') return 'success'
    if (kind === undefined || row.visitors !== 'anyone') return unauthorized
    return visibility === 'public' ? 'success' : hidden[kind]
  }
  const asStranger = (visibility: Visibility): Answer | 'success' => {
    if (kind === undefined) return row.may === 'administrators' ? forbidden : 'success'
    if (visibility === 'private') return hidden[kind]
    return row.visitors === undefined ? forbidden : 'success'
  }
  const withScope = (scope: string) => (scopesOf(row).includes(scope) ? 'success' : insufficient(...scopesOf(row)))
  const least = (name: string, shown: Shown, expected: Answer | 'success' = 'success') =>
    [name, 'least', shown, expected] as const
  const nobody = (name: string, shown: Shown) => [name, 'nobody', shown, asNobody('private')] as const

  const everywhere = [
    nobody('anonymous', { by: 'nothing' }),
    least('least role', { by: 'personal' }),
    ['administrator', 'administrator', { by: 'personal' }, 'success'],

    least('read_api', { by: 'personal', scope: 'read_api' }, withScope('read_api')),
    least('read_user', { by: 'personal', scope: 'read_user' }, withScope('read_user')),
    least('email', { by: 'OAuth', scope: 'email' }, withScope('email')),

    least('impersonation', { by: 'impersonation' }),
    least('OAuth', { by: 'OAuth' }),
    least('group token', { by: 'group token' }, kind === undefined ? asStranger('private') : 'success'),
    least('project token', { by: 'project token' }, kind === 'project' ? 'success' : asStranger('private')),
    row.job ? least('job', { by: 'job' }) : nobody('job', { by: 'job' }),
    row.job ? least('ended job', { by: 'ended job' }, unauthorized) : nobody('ended job', { by: 'ended job' }),
    nobody('deploy token in its header', { by: 'deploy token header' }),
    ['deploy token', 'nobody', { by: 'deploy token' }, unauthorized],
    ['unknown token', 'nobody', { by: 'unknown' }, unauthorized],
    least('revoked token', { by: 'revoked' }, revoked),
    least('token of a blocked user', { by: 'blocked' }, message(403, '403 Forbidden - Your account has been blocked.')),

    least('sudo', { by: 'personal', scope: 'sudo', sudo: 'least' }),
    [
      'sudo by no administrator',
      'stranger',
      { by: 'personal', sudo: 'administrator' },
      message(403, '403 Forbidden - Must be admin to use sudo'),
    ],
    ['sudo without its scope', 'administrator', { by: 'personal', sudo: 'least' }, insufficient('sudo')],
    [
      'sudo to nobody',
      'administrator',
      { by: 'personal', scope: 'sudo', sudo: 'ghost' },
      message(404, '404 User with ID or username ghost Not Found'),
    ],
    [
      'sudo by session',
      'administrator',
      { by: 'session with CSRF token', sudo: 'least' },
      message(403, '403 Forbidden - Must be authenticated using an OAuth or personal access token to use sudo'),
    ],
  ] satisfies Cell[]
  const sessions = isRead(row)
    ? [least('session', { by: 'session' })]
    : [
        nobody('session, no CSRF token', { by: 'session' }),
        least('session, CSRF token', { by: 'session with CSRF token' }),
      ]
  const strangers: Cell[] =
    row.may === 'administrators' ? [['stranger', 'stranger', { by: 'personal' }, asStranger('private')]] : []
  const about = kind === undefined ? [] : aboutParent(row, kind)
  const onPrivate = [...everywhere, ...sessions, ...strangers].map((cell) => columnOf(cell, 'private'))
  const onOthers = (['private', 'internal', 'public'] as const).flatMap((visibility) =>
    kind === undefined
      ? []
      : [
          columnOf([`stranger, ${visibility}`, 'stranger', { by: 'personal' }, asStranger(visibility)], visibility),
          columnOf([`anonymous, ${visibility}`, 'nobody', { by: 'nothing' }, asNobody(visibility)], visibility),
        ],
  )
  return [...onPrivate, ...onOthers, ...about].map((column) => ({
    ...column,
    expected: row.except?.[column.name] ?? column.expected,
  }))
}

type Cell = readonly [name: string, caller: Caller, shown: Shown, expected: Answer | 'success']

const columnOf = ([name, caller, shown, expected]: Cell, visibility: Visibility): Column => ({
  name,
  caller,
  shown,
  expected,
  visibility,
})

function aboutParent(row: MatrixRow, kind: 'group' | 'project'): Column[] {
  // Below a Guest there is only Minimal access, which is not inherited: who has it in the group above sees nothing.
  const below = levelOf(row) === 10 ? hidden[kind] : forbidden
  // Wherever it lies: what callers who have not signed in may, though it is known who asks.
  const elsewhere = (visibility: Visibility, expected: Answer | 'success') =>
    columnOf(
      [`bot of another project, ${visibility}`, 'least', { by: 'token of another project' }, expected],
      visibility,
    )
  return [
    elsewhere('private', hidden[kind]),
    elsewhere('internal', hidden[kind]),
    elsewhere('public', row.visitors === 'anyone' ? 'success' : forbidden),
    columnOf(['one role below', 'below', { by: 'personal' }, below], 'private'),
    // As what is hidden: nobody is told which of the two it is.
    {
      ...columnOf(['unknown parent', 'administrator', { by: 'personal' }, hidden[kind]], 'private'),
      isLost: true,
    },
  ]
}
