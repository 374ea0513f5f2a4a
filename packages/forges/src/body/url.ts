import { type Fields, text } from './fields.ts'

const credentials = /^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i

/** Reads a URL, without surrounding blanks and without the user and password that a clone URL may contain. */
export function url(fields: Fields, key: string): string | undefined {
  const given = text(fields, key)?.trim()
  return given?.includes('@') ? given.replace(credentials, '$1') : given
}

/** Returns a project's URL without trailing `/` and `.git`; `undefined` if nothing else is left. */
export function projectUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const bare = withoutSlashes(given)
  const address = bare.endsWith('.git') ? withoutSlashes(bare.slice(0, -'.git'.length)) : bare
  return address === '' ? undefined : address
}

/** Matches `git@host:path`, the short form of an SSH URL. */
const shortSsh = /^[^\s/@:]+@([^\s/@:]+):(?!\/)(\S+)$/
/** Matches SSH and Git URLs. A port belongs to that protocol and not to the web server. */
const sshUrl = /^(?:ssh|git|git\+ssh):\/\/(?:[^\s/@]*@)?([^\s/:@]+)(?::\d+)?\/(\S+)$/i

/** Returns the web URL of a repository that is cloned from a URL; `undefined` if it is not on a web server. */
export function repositoryUrl(cloneUrl: string | undefined): string | undefined {
  const given = cloneUrl?.trim()
  if (given === undefined) return undefined
  const [, host, path] = shortSsh.exec(given) ?? sshUrl.exec(given) ?? []
  if (host !== undefined && path !== undefined) return projectUrl(`https://${host}/${path}`)
  return /^https?:\/\//i.test(given) ? projectUrl(given.replace(credentials, '$1')) : undefined
}

/** Returns the path of a repository with its owner, read from its URL; `undefined` if it has no owner there. */
export function repositoryPath(webUrl: string | undefined): string | undefined {
  if (webUrl === undefined || !URL.canParse(webUrl)) return undefined
  const path = new URL(webUrl).pathname.slice(1)
  return path.includes('/') ? path : undefined
}

/** Returns the last segment of a path. */
export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

function withoutSlashes(address: string): string {
  let end = address.length
  while (end > 0 && address.charAt(end - 1) === '/') end--
  return address.slice(0, end)
}

/** Returns a segment of a path without percent escapes. A segment with a bare percent sign is unchanged. */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) return segment
    throw error
  }
}
