import type { Shape } from './http-matrix-shapes.ts'

/** Roles by their codes, interface-2 2.5. */
export type Level = 10 | 15 | 20 | 25 | 30 | 40 | 50

/** Something that has to be there before it can be asked for or changed. */
export type Thing =
  | 'blocked user'
  | 'branch'
  | 'confidential issue'
  | 'deactivated user'
  | 'group token'
  | 'home'
  | 'impersonation token'
  | 'issue'
  | 'label'
  | 'member'
  | 'merge request'
  | 'milestone'
  | 'milestone contents'
  | 'own issue'
  | 'own merge request'
  | 'own token'
  | 'personal token'
  | 'pipeline'
  | 'project below'
  | 'project token'
  | 'repository'
  | 'subgroup'
  | 'tag'
  | 'user'
  | 'variable'

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Who may do one thing, and what is answered. Written from the specification, not from the code. */
export interface MatrixRow {
  /** As in the list of routes. What comes after ` : ` tells rows of one route apart. */
  readonly call: string
  /** Where it is written; `platform`: nowhere, so that what users of the platform's API expect counts (design.md, order of authority). */
  readonly spec: string
  /**
   * `anyone`, also without having signed in; whoever has `signed in`; `administrators`; or the least role, in the `group` or
   * `project` that `:id` names.
   */
  readonly may: 'anyone' | 'signed in' | 'administrators' | { readonly group: Level } | { readonly project: Level }
  /** Who has no role may as well where the group or project is public, or once signed in internal; without it, nobody. */
  readonly visitors?: 'anyone' | 'signed in'
  /** Of success; without a shape the answer has no body; `text`: it is not JSON. */
  readonly answer: readonly [status: number, shape?: Shape | 'text']
  readonly needs?: readonly Thing[]
  /**
   * Parameters: of GET and DELETE in the query, else in the body. `{user}` stands for what `needs` has made; within an object,
   * and alone in its text, it is a number where that is one.
   */
  readonly send?: Readonly<Record<string, unknown>>
  /** Parameters in the path, where they are others than `needs` has made. */
  readonly at?: Readonly<Record<string, string>>
  /** Takes a job's token, rest-part2-details 2.6. */
  readonly job?: true
  /** Beside `api`, and `read_api` for GET. */
  readonly scopes?: readonly string[]
  /** What some are told instead of what follows from the rest, by the name of the column. */
  readonly except?: Readonly<Record<string, Answer | 'success'>>
  /** The list may be empty for whoever has just come. */
  readonly mayBeEmpty?: true
  /** Ends the credential it is asked with. */
  readonly endsCredential?: true
}

export const leastOf = (kind: 'project' | 'group', level: Level): MatrixRow['may'] =>
  kind === 'project' ? { project: level } : { group: level }

/** The least role; `undefined` where none is needed, or none suffices. */
export function levelOf({ may }: MatrixRow): Level | undefined {
  if (typeof may === 'string') return undefined
  return 'group' in may ? may.group : may.project
}

/** Without what tells rows of one route apart. */
export const routeOf = ({ call }: MatrixRow): string => call.split(' : ')[0]!
