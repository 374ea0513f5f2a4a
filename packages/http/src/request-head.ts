/** What a listener answers by itself, before any application sees the request. */
export interface HeadProblem {
  readonly status: number
  readonly message: string
}

/** A limit of our own, as Node would drop headers beyond its limit without an error. */
export const MAX_HEADERS = 200

/**
 * Headers that mean one value. Node keeps the first and drops the others, so that a proxy in front and we could act on
 * different ones.
 */
const singleHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
])

/** Returns what is wrong with the head of a request; names and values of headers in turn, as Node's `rawHeaders` has them. */
export function headProblem(target: string, rawHeaders: readonly string[]): HeadProblem | undefined {
  // A proxy in front may end the path there, or take it for a part of it.
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

/** Returns the path and query of a request target in absolute form (`http://host/path?query`), others unchanged. */
export function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]*/i.exec(target)
  if (match === null) return target
  const rest = target.slice(match[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}
