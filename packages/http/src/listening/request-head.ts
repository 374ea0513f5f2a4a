/** A problem with the head of a request, which the listener answers before the application sees the request. */
export interface HeadProblem {
  readonly status: number
  readonly message: string
}

/** The maximum number of headers. Node's own limit is not used, because Node drops further headers without an error. */
export const MAX_HEADERS = 200

/**
 * The headers that a request may have only once. Node keeps the first and drops the others, so a proxy in front could use
 * a different value than this server.
 */
const singleHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
])

/**
 * Returns the problem with the head of a request, or `undefined` if there is none.
 *
 * @param rawHeaders names and values alternating, as in Node's `rawHeaders`
 */
export function headProblem(target: string, rawHeaders: readonly string[]): HeadProblem | undefined {
  // Proxies disagree on whether the path ends at the fragment.
  if (target.includes('#')) return { status: 400, message: 'A request target must not have a fragment.' }
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return { status: 431, message: `A request may have at most ${MAX_HEADERS} headers.` }
  }
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (!singleHeaders.has(name)) continue
    if (name === 'transfer-encoding' && rawHeaders[at + 1]!.trim().toLowerCase() !== 'chunked') {
      return { status: 400, message: 'The only supported transfer coding is chunked.' }
    }
    if (seen.has(name)) return { status: 400, message: `The header ${name} may be sent only once.` }
    seen.add(name)
  }
  return undefined
}

/**
 * Returns the path and query of a request target in absolute form (`http://host/path?query`); other targets are
 * returned unchanged.
 */
export function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]*/i.exec(target)
  if (match === null) return target
  const rest = target.slice(match[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}
