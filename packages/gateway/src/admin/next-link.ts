import type { RouteRequest } from '@penstock/http'

/**
 * Returns the headers of a list that has another page: `Link` to it with the parameters of this one (RFC 8288), and its
 * cursor alone. The last page has neither.
 */
export function nextLink({ path, query }: RouteRequest, nextCursor: string | undefined): Record<string, string> {
  if (nextCursor === undefined) return {}
  const parameters = new URLSearchParams(query as Record<string, string>)
  parameters.set('cursor', nextCursor)
  return { Link: `<${path}?${parameters}>; rel="next"`, 'X-Next-Cursor': nextCursor }
}

/** The headers of {@link nextLink} for the OpenAPI document. */
export const nextPageHeaders = {
  Link: 'The next page, if there is one (RFC 8288)',
  'X-Next-Cursor': 'The cursor of the next page, if there is one',
}
