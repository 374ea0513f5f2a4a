import type { InputSchema, KeysetPage, Page } from '@penstock/core'
import { type Names, parametersOf } from './parameter-names.ts'
import { traitsOf } from './schema-traits.ts'

/** What the links of a page are made of. */
export interface ListedAt {
  /** External, without a query. */
  readonly url: string
  readonly input: InputSchema
  readonly names: Names
  /** By their names in REST, as they were sent. */
  readonly values: Readonly<Record<string, unknown>>
}

/** @see spec/rest-part2-details.md 1.6 */
export function pageHeaders(
  { page, perPage, hasNext, total, items }: Page<unknown>,
  at: ListedAt,
): Record<string, string> {
  const totalPages = total === undefined ? undefined : Math.max(1, Math.ceil(total / perPage))
  const next = hasNext ? page + 1 : undefined
  // Behind the end there is no way back either, as the platform has it.
  const previous = page > 1 && items.length > 0 ? page - 1 : undefined
  const link = linksTo(at)
  const links = { prev: previous, next, first: 1, last: totalPages }
  return {
    'X-Page': String(page),
    'X-Per-Page': String(perPage),
    'X-Next-Page': String(next ?? ''),
    'X-Prev-Page': String(previous ?? ''),
    ...(total !== undefined && { 'X-Total': String(total), 'X-Total-Pages': String(totalPages) }),
    Link: Object.entries(links)
      .filter(([, number]) => number !== undefined)
      .map(([rel, number]) => link(rel, 'page', number))
      .join(', '),
  }
}

/** @see spec/rest-part2-details.md 1.7 */
export function keysetHeaders({ nextCursor }: KeysetPage<unknown>, at: ListedAt): Record<string, string> {
  return nextCursor === undefined ? {} : { Link: linksTo(at)('next', 'cursor', nextCursor) }
}

/** With every parameter that the list knows, also those of the path and those that have their default; one of them is told. */
function linksTo({ url, input, names, values }: ListedAt) {
  const parts = parametersOf(input, names)
    .map(({ name, schema }) => {
      const value = sent(values, name) ?? traitsOf(schema).fallback
      return { name, text: queryParts(name, value) }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return (rel: string, told: 'page' | 'cursor', value: unknown): string => {
    const query = parts.flatMap(({ name, text }) => (name === told ? queryParts(name, value) : text)).join('&')
    return `<${url}?${query}>; rel="${rel}"`
  }
}

const sent = (values: ListedAt['values'], name: string): unknown =>
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
