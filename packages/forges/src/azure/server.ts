/** The host of organisations, which have hosts of their own in older URLs. */
const HOST = 'dev.azure.com'
const OLD_HOST = '.visualstudio.com'
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * Returns the server of a build with the organisation or collection, because ids of builds are unique there only; `undefined` if the
 * URL has neither a host of Azure DevOps nor the path of the API.
 */
export function azureServer(buildUrl: string | undefined): string | undefined {
  if (buildUrl === undefined || !URL.canParse(buildUrl)) return undefined
  const { host, pathname } = new URL(buildUrl)
  const segments = pathname.split('/').filter((segment) => segment !== '')
  if (host === HOST) return segments[0] === undefined ? undefined : `${HOST}/${segments[0].toLowerCase()}`
  if (host.endsWith(OLD_HOST)) return `${HOST}/${host.slice(0, -OLD_HOST.length)}`
  const end = segments.findIndex((segment) => segment.toLowerCase() === '_apis')
  if (end < 0) return undefined
  const isProject = uuid.test(segments[end - 1] ?? '')
  return [host, ...segments.slice(0, isProject ? end - 1 : end)].join('/').toLowerCase()
}
