import { isObject, type JsonObject } from '../body/fields.ts'
import { RecordError } from '../record/record-error.ts'
import { type ListPage, listAll } from './listing.ts'
import type { ApiAnswer, ApiRequest, Ask } from './rest-api.ts'

/** The maximum number of jobs of a run. */
export const MAX_RUN_JOBS = 10_000
/** The maximum length of the answers about one run. */
export const MAX_RUN_BYTES = 32 * 1_024 * 1_024

/** Asks for an object. Returns `undefined` for a 404 and for an empty answer. */
export async function askObject(ask: Ask, path: string, query?: ApiRequest['query']): Promise<JsonObject | undefined> {
  const answer = await ask({ path, ...(query && { query }) })
  if (answer === undefined || answer.body === undefined || answer.body === null) return undefined
  if (isObject(answer.body)) return answer.body
  throw new RecordError('', `${path}: the answer is not a JSON object`)
}

/** A list with pages that are counted from 1. */
export interface NumberedList {
  readonly path: string
  readonly query: ApiRequest['query']
  /** The members that may contain the list, if the answer is an object. */
  readonly members?: readonly string[]
  /** The member that identifies an item. Default: `id`. */
  readonly idMember?: string
}

/** Asks for a page of a list. @returns `undefined` for a 404 */
export async function askPage(ask: Ask, list: NumberedList, number: number): Promise<ListPage | undefined> {
  const { path, query } = list
  const answer = await ask({ path, query: { ...query, page: number } })
  if (answer === undefined) return undefined
  const items = listItems(path, answer, list)
  const total = readTotal(answer)
  return { items, total, isLast: isLastPage(answer, { number, count: items.length, total }), bytes: answer.bytes }
}

/** Asks for all pages of a list that no longer changes. @returns `undefined` for a 404 */
export async function askList(
  ask: Ask,
  list: NumberedList,
  maxItems = MAX_RUN_JOBS,
): Promise<readonly JsonObject[] | undefined> {
  const first = await askPage(ask, list, 1)
  if (first === undefined) return undefined
  const fetch = async (number: number): Promise<ListPage> =>
    number === 1 ? first : requirePage(list.path, await askPage(ask, list, number))
  const items = await listAll({ path: list.path, fetch, maxItems })
  return items.map(({ value }) => value)
}

export function requirePage<T>(path: string, page: T | undefined): T {
  if (page !== undefined) return page
  throw new RecordError('', `${path}: HTTP 404; check the name of the project and what the access token may read`)
}

/** Returns the objects of a list with their ids, which are texts or integers. */
export function listItems(path: string, { body }: ApiAnswer, list: Pick<NumberedList, 'members' | 'idMember'>) {
  const { members = [], idMember = 'id' } = list
  const member = isObject(body) ? members.find((name) => body[name] !== undefined) : undefined
  const items: unknown = isObject(body) && member !== undefined ? (body[member] ?? []) : body
  if (!Array.isArray(items)) throw new RecordError('', `${path}: the answer is not a JSON list`)
  return items.map((value: unknown) => {
    const id = memberText(value, idMember)
    if (id === undefined || id === '0') throw new RecordError('', `${path}: an item of the list has no ${idMember}`)
    return { id, value: value as JsonObject }
  })
}

/** Reads the number of items on all pages from the answer or its headers. */
function readTotal({ body, headers }: ApiAnswer): number | undefined {
  const given = isObject(body) ? (body.total_count ?? body.size) : (headers['x-total'] ?? headers['x-total-count'])
  return /^\d{1,15}$/.test(String(given)) ? Number(given) : undefined
}

/** Without any word on the next page, an empty page is the last one, because a server may return fewer items than were asked for. */
function isLastPage(
  { headers }: ApiAnswer,
  { number, count, total }: { readonly number: number; readonly count: number; readonly total: number | undefined },
): boolean {
  if (count === 0) return true
  const next = headers['x-next-page']
  if (next !== undefined) return next.trim() === ''
  if (headers.link !== undefined) return !/\brel="?next"?/.test(headers.link)
  return total !== undefined && number * count >= total
}

/** Returns a text or an integer in nested objects as text; `undefined` for other values. */
export function memberText(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value)
  if (typeof found === 'bigint' || Number.isSafeInteger(found)) return String(found)
  return typeof found === 'string' && found.trim() !== '' ? found : undefined
}

/** Returns a port that refuses to read more than the limit for one run. */
export function limitBytes(ask: Ask, maxBytes = MAX_RUN_BYTES): Ask {
  let bytes = 0
  return async (request) => {
    const answer = await ask(request)
    bytes += answer?.bytes ?? 0
    if (bytes > maxBytes) throw new RecordError('', `${request.path}: the run is longer than ${maxBytes} bytes`)
    return answer
  }
}

/** Returns names as a path, each encoded. @throws {RecordError} for names that would lead elsewhere */
export function apiPath(...names: readonly string[]): string {
  for (const name of names) {
    // encodeURIComponent throws for half a surrogate pair, which JSON can contain.
    if (name === '' || name === '.' || name === '..' || !name.isWellFormed())
      throw new RecordError('', `${JSON.stringify(name)} is no name in a path`)
  }
  return names.map((name) => `/${encodeURIComponent(name)}`).join('')
}

/** Returns the two or more parts of the name of a project, such as `owner/name`. @throws {RecordError} if it has fewer */
export function projectNames(project: string, form: string): readonly string[] {
  const names = project.split('/')
  if (names.length >= form.split('/').length && names.every((name) => name !== '')) return names
  throw new RecordError('', `the project must have the form ${form}`)
}

/** The error for a list that is missing although its run exists. */
export const missingPart = (path: string, run = 'run'): RecordError =>
  new RecordError('', `${path}: HTTP 404, although the ${run} exists; check what the access token may read`)
