import { RecordError } from '../record/record-error.ts'
import type { ApiRequest } from './rest-api.ts'

/**
 * Returns the function that finds the URL of an API: of the known hosts, else below the server's URL. A URL that already ends with the
 * path is unchanged.
 */
export const apiAddress =
  (path: string, hosts: Readonly<Record<string, string>> = {}) =>
  (server: URL): URL => {
    const known = Object.hasOwn(hosts, server.hostname) ? hosts[server.hostname] : undefined
    const url = new URL(known ?? server)
    if (known !== undefined) return url
    const base = url.pathname.replaceAll(/\/+/g, '/').replace(/\/$/, '')
    url.pathname = base.endsWith(path) ? base : `${base}${path}`
    return url
  }

/**
 * Returns the URL of a request to an API.
 *
 * @throws {RecordError} if it would not be below the URL of the API, because hooks and answers may contain any text
 */
export function requestUrl(base: URL, { path, query = {} }: ApiRequest): URL {
  const isBelow = path.startsWith('/') && !/[?#\\]/.test(path) && !hasDotSegment(path)
  const url = new URL(base)
  url.pathname = base.pathname.replace(/\/$/, '') + path
  if (!isBelow || url.origin !== base.origin) throw new RecordError('', 'a name leads to a path that is not allowed')
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url
}

const hasDotSegment = (path: string): boolean =>
  path.split('/').some((segment) => /^\.{1,2}$/.test(segment.replaceAll(/%2e/gi, '.')))

/** Returns the URL before a path in it, such as the server in the URL of a repository; `undefined` if it does not end with the path. */
export function urlBefore(url: string | undefined, path: string | undefined): string | undefined {
  if (url === undefined || path === undefined || !URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  const end = pathname.toLowerCase().lastIndexOf(`/${path.toLowerCase()}`)
  return end < 0 ? undefined : `${origin}${pathname.slice(0, end)}`
}

export const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` })

/** Returns the header for `user:password`, or for a password without a user. */
export const basic = (credentials: string): Readonly<Record<string, string>> => ({
  authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
})
