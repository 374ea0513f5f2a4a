/** A failure of a call to the service, in words that a page can show. */
export class ApiError extends Error {
  /** The HTTP status, or 0 if the service could not be reached. */
  readonly status: number
  /** The error code of the API, or an empty string. */
  readonly code: string
  /** The id under which the service logged the request, or an empty string. */
  readonly requestId: string
  /** The details of the API, such as the problem of each field; null if there are none. */
  readonly details: unknown

  constructor(message: string, status: number, code = '', requestId = '', details: unknown = null) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.requestId = requestId
    this.details = details
  }
}

/** The values of a query string. Those that are null, undefined or empty are left out; a list repeats its name. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>

/** One page of a list, and where the next one begins. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Null if this is the last page. */
  readonly nextCursor: string | null
}

/** A resource with the tag of its version, which a change can require to be the current one. */
export interface Tagged<T> {
  readonly data: T
  readonly etag: string
}

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly query?: Query | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** The tag of the version that a change is based on. If there is a newer one, the answer is 412. */
  readonly ifMatch?: string | undefined
}

let csrfToken = ''
let onSessionEnd: ((refusal: ApiError) => void) | undefined
let renewSession: (() => Promise<void>) | undefined
/** The renewal that is under way, so that several refused changes share one. */
let renewal: Promise<void> | undefined

/** Sets the value that writes have to carry while the session lasts. */
export function setCsrfToken(token: string): void {
  csrfToken = token
}

/** Calls the listener whenever a request is refused because the session has ended. */
export function whenSessionEnds(listener: (refusal: ApiError) => void): void {
  onSessionEnd = listener
}

/**
 * Calls the function when a change is refused because the session is another one than the page knows, such as after a sign-in in another
 * tab. It sets the CSRF token of the session that the browser has now; then the change is sent once more.
 */
export function whenSessionIsReplaced(renew: () => Promise<void>): void {
  renewSession = renew
}

/** Returns the address of a path with its query. */
export function toAddress(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== '') search.append(name, String(each))
    }
  }
  return search.size === 0 ? path : `${path}?${search}`
}

/** Returns the body of a JSON resource. @throws {ApiError} */
export async function getJson<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await (await send(path, { query, signal })).json()) as T
}

/** Returns the body of a JSON resource with the tag of its version. @throws {ApiError} */
export async function getTagged<T>(path: string, signal?: AbortSignal): Promise<Tagged<T>> {
  const response = await send(path, { signal })
  return { data: (await response.json()) as T, etag: response.headers.get('ETag') ?? '' }
}

/** Returns one page of a list; `cursor` belongs to the query. @throws {ApiError} */
export async function getPage<T>(path: string, query?: Query, signal?: AbortSignal): Promise<Page<T>> {
  const response = await send(path, { query, signal })
  return { items: (await response.json()) as T[], nextCursor: response.headers.get('X-Next-Cursor') }
}

/** Sends a change and returns the JSON that answers it, or undefined if the answer has no body. @throws {ApiError} */
export async function sendJson<T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  { ifMatch }: { readonly ifMatch?: string } = {},
): Promise<T> {
  const response = await send(path, { method, body, ifMatch })
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

async function send(path: string, options: RequestOptions): Promise<Response> {
  try {
    return await sendOnce(path, options)
  } catch (error) {
    const isReplaced = error instanceof ApiError && error.code === 'csrf_token_required'
    if (!isReplaced || renewSession === undefined) throw error
    renewal ??= renewSession().finally(() => {
      renewal = undefined
    })
    await renewal
    return await sendOnce(path, options)
  }
}

async function sendOnce(path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', body } = options
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (method !== 'GET' && csrfToken !== '') headers['X-Penstock-CSRF'] = csrfToken
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (options.ifMatch !== undefined) headers['If-Match'] = options.ifMatch
  let response: Response
  try {
    response = await fetch(toAddress(path, options.query), {
      method,
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new ApiError('The service cannot be reached.', 0)
  }
  if (response.ok) return response
  const failure = await readFailure(response)
  if (response.status === 401) onSessionEnd?.(failure)
  throw failure
}

interface ErrorBody {
  readonly error?: {
    readonly code?: string
    readonly message?: string
    readonly request_id?: string
    readonly details?: unknown
  }
}

async function readFailure(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody
  const { code = '', message, details, request_id = response.headers.get('X-Request-Id') ?? '' } = body.error ?? {}
  return new ApiError(
    message ?? `The service answered with status ${response.status}.`,
    response.status,
    code,
    request_id,
    details,
  )
}
