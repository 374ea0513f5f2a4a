import type { InputSchema, KeysetPage, Page } from '@penstock/core'
import { type Names, type Parameter, parametersOf } from './parameter-names.ts'
import { traitsOf } from './schema-traits.ts'

/** The request for a list, from which the links to other pages are built. */
export interface ListRequest {
  /** The external URL without the query. */
  readonly url: string
  readonly input: InputSchema
  readonly names: Names
  /** The parameters as sent, with their REST names. */
  readonly values: Readonly<Record<string, unknown>>
}

/** Returns the headers of a page in offset pagination. */
export function pageHeaders(
  { page, perPage, hasNext, total, items }: Page<unknown>,
  request: ListRequest,
): Record<string, string> {
  const totalPages = total === undefined ? undefined : Math.max(1, Math.ceil(total / perPage))
  const next = hasNext ? page + 1 : undefined
  // A page beyond the last one has no previous page either, as on GitLab.
  const previous = page > 1 && items.length > 0 ? page - 1 : undefined
  const link = linksTo(request, 'page')
  const links = { prev: previous, next, first: 1, last: totalPages }
  return {
    'X-Page': String(page),
    'X-Per-Page': String(perPage),
    'X-Next-Page': String(next ?? ''),
    'X-Prev-Page': String(previous ?? ''),
    ...(total !== undefined && { 'X-Total': String(total), 'X-Total-Pages': String(totalPages) }),
    Link: Object.entries(links)
      .filter(([, number]) => number !== undefined)
      .map(([rel, number]) => link(rel, number))
      .join(', '),
  }
}

/** Returns the headers of a page in keyset pagination. */
export function keysetHeaders({ nextCursor }: KeysetPage<unknown>, request: ListRequest): Record<string, string> {
  return nextCursor === undefined ? {} : { Link: linksTo(request, 'cursor')('next', nextCursor) }
}

/**
 * Returns a function that builds a link to another page, with another value of one parameter. As on GitLab, a link contains
 * every parameter of the list, including parameters of the path and those that have their default.
 */
function linksTo({ url, input, names, values }: ListRequest, replaced: 'page' | 'cursor') {
  const before: string[] = []
  const after: string[] = []
  let isReplaced = false
  for (const { name, fallback } of linkParametersOf(parametersOf(input, names))) {
    const sent = sentValue(values, name) ?? undefined
    if (name === replaced) isReplaced = true
    else (isReplaced ? after : before).push(...(sent === undefined ? fallback : queryParts(name, sent)))
  }
  return (rel: string, value: unknown): string => {
    const query = [...before, ...(isReplaced ? queryParts(replaced, value) : []), ...after].join('&')
    return `<${url}?${query}>; rel="${rel}"`
  }
}

interface LinkParameter {
  readonly name: string
  /** The parts of the query if the parameter is not sent. */
  readonly fallback: readonly string[]
}

/** The parameters in the order of links, by parameters in the order of the input; cached like the latter. */
const cache = new WeakMap<readonly Parameter[], readonly LinkParameter[]>()

function linkParametersOf(parameters: readonly Parameter[]): readonly LinkParameter[] {
  const known = cache.get(parameters)
  if (known !== undefined) return known
  const sorted = parameters
    .map(({ name, schema }) => ({ name, fallback: queryParts(name, traitsOf(schema).fallback) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  cache.set(parameters, sorted)
  return sorted
}

const sentValue = (values: ListRequest['values'], name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined

function queryParts(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap((element) => queryParts(`${name}[]`, element))
  if (typeof value === 'object') {
    return Object.entries(value).flatMap(([key, inner]) => queryParts(`${name}[${key}]`, inner))
  }
  return [`${encoded(name)}=${encoded(String(value))}`]
}

const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+')
