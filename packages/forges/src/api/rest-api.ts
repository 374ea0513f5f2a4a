import type { JsonObject } from '../body/fields.ts'

/** One question to an API: the path below its URL, and the query. */
export interface ApiRequest {
  /** Begins with a slash; its segments are encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
}

export interface ApiAnswer {
  /** The parsed JSON, with exact integers; `undefined` for an empty body. */
  readonly body: unknown
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The length of the body as received. */
  readonly bytes: number
}

/**
 * Sends a GET request and returns the answer; `undefined` for a 404. Other refusals are errors of the caller, who also brings the
 * credentials, the deadline, the retries and the waits for rate limits.
 */
export type Ask = (request: ApiRequest) => Promise<ApiAnswer | undefined>

/** The names by which an API finds one run, or one attempt of a run. They can be stored as JSON. */
export interface RunReference {
  /** The project as users name it with `--project`, such as `owner/name`. */
  readonly project: string
  /** The id or number by which the API finds the run. */
  readonly run: string
  /** Absent for forges that do not count attempts, and for the attempt that the API has as the last one. */
  readonly attempt?: number | undefined
}

/** A run that a hook announced. */
export interface AnnouncedRun {
  readonly reference: RunReference
  /** The URL of the forge that the hook names. It is only as trustworthy as the hook. */
  readonly serverUrl: string | undefined
}

export interface ListedRun {
  readonly reference: RunReference
  /** `undefined` if the list does not contain it. */
  readonly createdAtNs: bigint | undefined
  /** The run as the list has it, as a bundle without jobs; absent for earlier attempts, which lists do not contain. */
  readonly bundle?: JsonObject
}

export interface RunPage {
  readonly runs: readonly ListedRun[]
  /** The number of runs on all pages, if the forge sends it and all pages are read. */
  readonly total: number | undefined
  /** The length of the body as received. */
  readonly bytes: number
}

export interface RunQuery {
  readonly project: string
  /** The earliest creation time. Runs that are a little older may be listed, too. */
  readonly sinceNs: bigint | undefined
  /** The creation time before which runs are listed, such as now. Later ones may be listed, too. */
  readonly untilNs: bigint
  /** The number of runs per page; forges have lower limits of their own. */
  readonly perPage: number
  /** The only status to list, in the forge's word. Forges that cannot select by it list all runs. */
  readonly status?: string | undefined
}

/** Facts that earlier answers of a server showed, such as which of two lists it has. A caller keeps one for a project. */
export type ApiMemory = Map<string, string>

/** The body that the forge's reader accepts, or that the run no longer exists. */
export type RunAnswer = { readonly kind: 'bundle'; readonly bundle: JsonObject } | { readonly kind: 'gone' }

/** The names of the headers that tell how many requests are left, in lower case. `retry-after` is the same everywhere. */
export interface RateLimitHeaders {
  readonly remaining: string
  /** Seconds from now, or a Unix time in seconds. */
  readonly reset: string
}

/** How the REST API of a forge is read. */
export interface ForgeApi {
  /** Returns the URL of the API of a server. The URL of an API is returned as it is. */
  readonly apiUrl: (server: URL) => URL
  /** Returns the headers that authenticate a request. */
  readonly credentials: (token: string) => Readonly<Record<string, string>>
  /** Headers of every request, such as the version of the API. */
  readonly headers?: Readonly<Record<string, string>>
  readonly rateLimit: RateLimitHeaders
  /** The permissions that a token needs, to complete the sentence "it needs …". */
  readonly tokenNeeds: string
  /** Set if bundles name neither their server nor their repository, so that options must. */
  readonly isUnnamed?: true
  /** The form of the name of a project, for messages. */
  readonly projectForm: string
  /**
   * Lists the runs of a project, each attempt once, even if the list changes during reading.
   *
   * @throws {RecordError} for a list that is malformed or endless, or a project that does not exist
   */
  readonly listRuns: (ask: Ask, query: RunQuery) => AsyncGenerator<RunPage>
  /**
   * Reads a run with its jobs. At most 10,000 jobs and 32 MiB are read.
   *
   * @throws {RecordError} for a run that is larger, or an answer that is malformed or missing
   */
  readonly readRun: (ask: Ask, reference: RunReference, memory?: ApiMemory) => Promise<RunAnswer>
  /** Returns the run that a hook is about; `undefined` if the hook names none. Absent if no hook of the forge names one. */
  readonly findRun?: (hook: JsonObject) => AnnouncedRun | undefined
}
