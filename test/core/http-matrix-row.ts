import type { Shape } from './http-matrix-shapes.ts'

/** The access levels of GitLab. */
export type Level = 10 | 15 | 20 | 25 | 30 | 40 | 50

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** The permission and the answer of one route. Written from the specification, not from the code. */
export interface MatrixRow {
  /** Method and path as in the list of routes. A text after ` : ` distinguishes rows of one route. */
  readonly call: string
  /**
   * Who may call it: `anyone`, including anonymous callers; every `signed in` user; `administrators`; or users with at
   * least this role in the `group` or `project` of `:id`.
   */
  readonly may: 'anyone' | 'signed in' | 'administrators' | { readonly group: Level } | { readonly project: Level }
  /**
   * Callers without a role who may call it too if the group or project is public, or internal for signed-in users.
   * Default: none.
   */
  readonly visitors?: 'anyone' | 'signed in'
  /**
   * The answer to callers who may call it, also if it is always an error. Without a shape it has no body; `text` stands
   * for a plain text, and `bytes` for another body that is not JSON.
   */
  readonly answer: readonly [status: number, shape?: Shape | 'text' | 'bytes']
  /** The names of the things that must exist before the request. */
  readonly needs?: readonly string[]
  /**
   * Parameters, for GET and DELETE in the query, else in the body. `{user}` is replaced by the value that `needs` has
   * created. Within an object, a text that consists only of it becomes a number if the value is one.
   */
  readonly send?: Readonly<Record<string, unknown>>
  /** The name of a parameter with a file. The request is a form. */
  readonly file?: string
  /** Path parameters that differ from the values that `needs` has created. */
  readonly at?: Readonly<Record<string, string>>
  /** Whether it accepts a job token. */
  readonly job?: true
  /** Whether every credential is accepted, also one that is unknown or revoked. */
  readonly ignoresCredentials?: true
  /** Accepted scopes besides `api`, and `read_api` for GET. */
  readonly scopes?: readonly string[]
  /** Answers that differ from the rules, by the name of the column. */
  readonly except?: Readonly<Record<string, Answer | 'success'>>
  /** Whether the list may be empty for new users, or the text may be empty. */
  readonly mayBeEmpty?: true
  /** Whether the request revokes its own credential. */
  readonly endsCredential?: true
}

export const forbidden: Answer = { status: 403, body: { message: '403 Forbidden' } }

/** The exceptions of rows that bots may not call in any role. */
export const notByBots = { 'project token': forbidden, 'group token': forbidden }

/** The kinds of parents, for rows that are the same for both. */
export const parentKinds = ['project', 'group'] as const

export const leastOf = (kind: 'project' | 'group', level: Level): MatrixRow['may'] =>
  kind === 'project' ? { project: level } : { group: level }

/** Returns the least role, or `undefined` if none is needed or none suffices. */
export function leastLevel({ may }: MatrixRow): Level | undefined {
  if (typeof may === 'string') return undefined
  return 'group' in may ? may.group : may.project
}

/** Returns method and path, without the text that distinguishes rows of one route. */
export const methodAndPath = ({ call }: MatrixRow): string => call.split(' : ')[0]!
