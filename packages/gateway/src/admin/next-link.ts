import type { RouteRequest } from '@penstock/http'

/** Returns the header `Link` to the next page with the parameters of this one (RFC 8288), or no header on the last page. */
export function nextLink({ path, query }: RouteRequest, nextCursor: string | undefined): Record<string, string> {
  if (nextCursor === undefined) return {}
  const parameters = new URLSearchParams(query as Record<string, string>)
  parameters.set('cursor', nextCursor)
  return { Link: `<${path}?${parameters}>; rel="next"` }
}
