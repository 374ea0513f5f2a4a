import type { Readable } from 'node:stream'
import type { Core, InputSchema, KeysetPage, Operation, Page } from '@penstock/core'
import type { JsonLimits } from '@penstock/json'
import type { z } from 'zod'

/** The prefix of all routes' paths. */
export const API_PREFIX = '/api/v4'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The data that shapes need besides the value. */
export interface JsonContext {
  /** The external URL without a trailing slash. */
  readonly externalUrl: string
  readonly serviceName: string
  readonly nowMs: number
}

/** The JSON representation of a value: its schema for OpenAPI, and the conversion. Keys are in the order of the response. */
export interface Shape<Value> {
  readonly schema: z.ZodType
  of(value: Value, context: JsonContext): unknown
}

type Item<Result> = Result extends Page<infer One> | KeysetPage<infer One>
  ? One
  : Result extends readonly (infer One)[]
    ? One
    : NonNullable<Result>

/**
 * Reasons by the name of a parameter. A name within another one is written `not[labels]`, within a list
 * `actions[][path]`.
 */
export type Reasons = Readonly<Record<string, string>>

/** The declaration of parameters that clients of GitLab's API send, beyond the input of the operation. */
export interface RouteParameters {
  /** Parameters of the input that are stored and returned, and change nothing else. */
  readonly stored?: readonly string[]
  /** Parameters that are accepted, because the response is the same with and without them. */
  readonly noEffect?: Reasons
  /** Parameters that are answered with 400, because the response would be wrong without them. */
  readonly refused?: Reasons
}

/** One call of the REST API as data. The operation implements it; the row describes its HTTP interface. */
export interface RouteRow<Input extends InputSchema, Result> {
  readonly method: Method
  /**
   * The path below `/api/v4`, such as `/groups/:id/milestones`. A parameter `:id` matches one segment, in which slashes are
   * encoded; `*slug` also matches plain slashes. Routes that end in a word come before those that end in `*slug`.
   */
  readonly path: string
  readonly operation: Operation<Input, Result>
  /** The summary in OpenAPI, one sentence. */
  readonly summary: string
  /** Whether OpenAPI says that the route will be removed. Nothing else depends on it. */
  readonly isDeprecated?: boolean
  /**
   * The REST names of parameters if they differ from the operation's name in snake_case: `{ group: 'id' }`. A caller may send
   * a parameter in the path, the query or the body; the path takes precedence.
   */
  readonly names?: Partial<Record<keyof z.input<Input> & string, string>>
  /**
   * The parameters of GitLab's API that the operation does not have, or only stores. A test compares this with
   * what the client libraries can send. Parameters that nothing declares are ignored.
   */
  readonly parameters?: RouteParameters
  /**
   * The status of success. Default: 204 if the row has neither `shape` nor `content`, 201 for POST, 200 otherwise. A result
   * of `undefined` always gives 204.
   */
  readonly status?: number
  /** Returns whether the result is a new resource, for which the status is 201 instead. */
  readonly isCreated?: (result: Result) => boolean
  /** Returns whether nothing had to be changed, for which the status is 304 without a body. */
  readonly isUnchanged?: (result: Result) => boolean
  /** The shape of the result, or of its items if it is a `Page`, `KeysetPage` or array. Pages also get their headers. */
  readonly shape?: Shape<Item<Result>>
  /** Set if the result is an array without pages. Only OpenAPI uses it. */
  readonly isList?: true
  /** Returns the response body if it is not JSON; replaces `shape`. */
  readonly content?: (result: Result) => { readonly type: string; readonly body: string | Uint8Array | Readable }
  /** The types of `content`, if it is not always plain text. */
  readonly contentTypes?: readonly string[]
  /** Returns additional response headers. */
  readonly headers?: (result: Result) => Readonly<Record<string, string>>
  /** The accepted scopes besides `api`, and besides `read_api` for GET. */
  readonly scopes?: readonly string[]
  /** Set if job tokens are accepted. */
  readonly takesJobTokens?: true
  /** Set if the operation does not depend on the caller, so that unknown credentials are ignored. */
  readonly ignoresCredentials?: true
  /** The maximum size of the body without its files. Default: 2 MiB. */
  readonly bodyLimitBytes?: number
  /** The limits on containers, values and depth of a JSON body. Default: 10,000, 20,000 and 64. */
  readonly jsonLimits?: JsonLimits
  /**
   * The maximum size of an uploaded file, or how to read it from the settings. A file is held in memory unless `filesOnDisk`
   * is set. Default: 1 MiB.
   */
  readonly fileLimitBytes?: number | ((core: Core) => Promise<number>)
  /**
   * Set if uploaded files are written to the disk. The operation gets their path and size instead of their bytes, and moves
   * those that it keeps.
   */
  readonly filesOnDisk?: true
  /**
   * The parameter that receives the text of the body. Set it if the body is a JSON document: its members are passed on
   * without conversion, the only other parameters are those of the path, and credentials in it are ignored.
   */
  readonly bodyTextAs?: keyof z.input<Input> & string
  /** The REST names of parameters that GitLab reports as both missing and empty if they are missing. */
  readonly emptyWhenMissing?: readonly string[]
  /** The REST names of parameters in the path that clients may encode twice. */
  readonly encodedTwice?: readonly string[]
  /** Set if the last segment is a name that may end with `.json`. Otherwise that suffix is ignored. */
  readonly endsInName?: true
  /**
   * Formats the `message` for validation errors, such as `Failed to create milestone {…}`. Default: the messages by REST
   * name.
   */
  readonly invalid?: (fields: Readonly<Record<string, readonly string[]>>) => unknown
  /** Formats the `message` of other refusals, such as `{ error: 'The branch exists' }`. Default: the text. */
  readonly refusal?: (message: string) => unknown
}

/** A row without its type parameters, so that rows of different operations fit in one list. */
export type RestRoute = RouteRow<InputSchema, unknown> & { readonly _checked?: never }

export function route<Input extends InputSchema, Result>(row: RouteRow<Input, Result>): RestRoute {
  // The row is checked here; the list of rows does not know the types of their operations.
  return row as unknown as RestRoute
}

/** Returns the status of a successful call. */
export function successStatus({ status, method, shape, content }: RestRoute): number {
  if (status !== undefined) return status
  if (shape === undefined && content === undefined) return 204
  return method === 'POST' ? 201 : 200
}

export interface Area {
  /** The heading in the documentation. */
  readonly tag: string
  readonly routes: readonly RestRoute[]
}
