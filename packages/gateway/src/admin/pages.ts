import type { RouteRequest } from '@penstock/http'

/** `Link` to the next page, with the very parameters of this one; none on the last page (RFC 8288). */
export function nextLink({ path, query }: RouteRequest, nextCursor: string | undefined): Record<string, string> {
  if (nextCursor === undefined) return {}
  const parameters = new URLSearchParams(query as Record<string, string>)
  parameters.set('cursor', nextCursor)
  return { Link: `<${path}?${parameters}>; rel="next"` }
}
