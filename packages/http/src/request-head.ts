/** A problem with the head of a request, which a listener answers before any application sees the request. */
export interface HeadProblem {
  readonly status: number
  readonly message: string
}

/** The highest number of headers. Node would drop headers beyond its limit without an error, so this limit is our own. */
export const MAX_HEADERS = 200

/**
 * Headers that may come once. Node keeps the first and drops the others, so a proxy in front could act on a different
 * one than we do.
 */
const singleHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
])

/**
 * Returns the problem with the head of a request, if there is one. `rawHeaders` are names and values in turn, as Node
 * has them.
 */
export function headProblem(target: string, rawHeaders: readonly string[]): HeadProblem | undefined {
  // A proxy in front may end the path there, or treat it as part of the path.
  if (target.includes('#')) return { status: 400, message: 'A request target has no fragment.' }
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return { status: 431, message: `A request may have ${MAX_HEADERS} headers at most.` }
  }
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (!singleHeaders.has(name)) continue
    if (name === 'transfer-encoding' && rawHeaders[at + 1]!.trim().toLowerCase() !== 'chunked') {
      return { status: 400, message: 'Of transfer codings only chunked is understood.' }
    }
    if (seen.has(name)) return { status: 400, message: `The header ${name} may be sent once only.` }
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
