import type { InputSchema, KeysetPage, Operation, Page } from '@penstock/core'
import type { JsonLimits } from '@penstock/json'
import type { z } from 'zod'

/** Before the paths of all rows. */
export const API_PREFIX = '/api/v4'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a shape may need beside the thing it shapes. */
export interface JsonContext {
  /** Without a slash at the end. */
  readonly externalUrl: string
  readonly serviceName: string
  readonly nowMs: number
}

/** How something looks in an answer: described for OpenAPI, and made. Keys in the order in which they are sent. */
export interface Shape<Value> {
  readonly schema: z.ZodType
  of(value: Value, context: JsonContext): unknown
}

type Item<Result> = Result extends Page<infer One> | KeysetPage<infer One>
  ? One
  : Result extends readonly (infer One)[]
    ? One
    : NonNullable<Result>

/** So many in each period; periods begin at multiples of their length since 1970. */
export interface Limit {
  readonly count: number
  readonly periodSeconds: number
}

/** One call of the REST API, as data. What it does is the operation's; here stands what it looks like from outside. */
export interface RouteRow<Input extends InputSchema, Result> {
  readonly method: Method
  /** `/groups/:id/milestones`, below `/api/v4`. */
  readonly path: string
  readonly operation: Operation<Input, Result>
  /** In OpenAPI: one sentence. */
  readonly summary: string
  /**
   * Parameters of the operation whose name in REST is not the same words in snake_case: `{ group: 'id' }`. Whether one
   * comes in the path, the query or the body is the caller's business, except that the path wins.
   */
  readonly names?: Partial<Record<keyof z.input<Input> & string, string>>
  /** Default: 204 without `shape` and `content`, 201 for POST, else 200. A result that is `undefined` is always a 204. */
  readonly status?: number
  /** 201 instead, for a thing that has not been there before. */
  readonly isCreated?: (result: Result) => boolean
  /**
   * Of the result, or of each of its items: a `Page` or `KeysetPage` gets the headers of a page, an array is sent whole.
   */
  readonly shape?: Shape<Item<Result>>
  /** The result is an array without pages. Only the description of the API needs to be told. */
  readonly isList?: true
  /** Instead of `shape`, for what is not JSON. */
  readonly content?: (result: Result) => { readonly type: string; readonly body: string | Uint8Array }
  /** Beside `shape` or `content`. */
  readonly headers?: (result: Result) => Readonly<Record<string, string>>
  /** Beside `api`, and `read_api` for GET. */
  readonly scopes?: readonly string[]
  /** A job token may be used. */
  readonly takesJobTokens?: true
  /** The operation never asks who calls, so that a credential which is unknown is no error. */
  readonly ignoresCredentials?: true
  /** How often a user, or an address of nobody's, may call it. Rows with the same `name` share their counts. */
  readonly limit?: Limit & { readonly name: string }
  /** Of a body without its files, for what carries content. Default: 2 MiB. */
  readonly bodyLimitBytes?: number
  /** The limits on containers, values and levels of a JSON body. Default: 10,000, 20,000 and 64. */
  readonly jsonLimits?: JsonLimits
  /** Of a file that may come with it; it is held in memory. Default: 1 MiB. */
  readonly fileLimitBytes?: number
  /**
   * The body is a document: JSON, whose parameters are taken as they are, from nowhere else but the path, and whose text is
   * this parameter. Credentials in it are none.
   */
  readonly bodyTextAs?: keyof z.input<Input> & string
  /** Names in REST of parameters of which the platform says, where they are missing, that they are empty as well. */
  readonly emptyWhenMissing?: readonly string[]
  /** Whose last segment is a free name, so that `.json` at its end belongs to it. */
  readonly endsInName?: true
  /**
   * What the area answers as `message` in its own words: `Failed to create milestone {…}`. Default: the map of messages,
   * by their names in REST.
   */
  readonly invalid?: (fields: Readonly<Record<string, readonly string[]>>) => unknown
}

/** A row whose types have been checked and are no longer needed. */
export type RestRoute = RouteRow<InputSchema, unknown> & { readonly _checked?: never }

export function route<Input extends InputSchema, Result>(row: RouteRow<Input, Result>): RestRoute {
  return row as unknown as RestRoute
}

export interface Area {
  /** Heading in the documentation. */
  readonly tag: string
  readonly routes: readonly RestRoute[]
}
