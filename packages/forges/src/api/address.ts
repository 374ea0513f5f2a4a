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
