/** Where the relative addresses of a text lead. */
export interface LinkBase {
  /** The URL of the wiki, with or without a host: `/groups/ops/-/wikis` or `https://git.example/groups/ops/-/wikis`. */
  readonly url: string
  /** The slug of the page, such as `guides/set-up`: addresses that begin with `.` are relative to it. */
  readonly page?: string | undefined
}

/** An address in a text after it has been checked. */
interface CheckedLink {
  readonly href: string
  /** Whether it leads to another site. */
  readonly isExternal: boolean
}

/** The place of addresses without a host; no real host can have this name. */
const PLACEHOLDER = 'https://relative.invalid'

/**
 * Returns the address as a browser would read it, or `undefined` if it is not allowed.
 *
 * An address without scheme and host belongs to the wiki: `page`, `/page` and `uploads/…` are relative to the wiki;
 * `./page`, `../page` and names with an extension (`plan.png`) are relative to the directory of the page.
 */
export function checkLink(address: string, base: LinkBase | undefined): CheckedLink | undefined {
  if (!URL.canParse(address, PLACEHOLDER)) return undefined
  const url = new URL(address, PLACEHOLDER)
  if (url.protocol === 'mailto:') return { href: url.href, isExternal: false }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  // A user name before the host can look like another host, and only hides where a link leads.
  if (url.username !== '' || url.password !== '') return undefined
  if (url.origin !== PLACEHOLDER) return { href: url.href, isExternal: url.origin !== originOf(base) }
  return { href: resolveRelative(address.trim(), url, base), isExternal: false }
}

const originOf = (base: LinkBase | undefined) => new URL(base?.url ?? '/', PLACEHOLDER).origin

/** Resolves an address without a host, by its path alone, so that no address leaves the wiki by `..`. */
function resolveRelative(address: string, url: URL, base: LinkBase | undefined): string {
  if (address.startsWith('#')) return url.hash
  const path = /^[^?#]*/.exec(address)![0]
  if (base === undefined) return `${/^[/\\]/.test(path) ? '' : '.'}${rootedPath(url)}${url.search}${url.hash}`
  const root = new URL(base.url, PLACEHOLDER)
  const rootPath = rootedPath(root).replace(/\/$/, '')
  const isOfPage = path.startsWith('.') || (/\.\w+$/.test(path) && !/^(?:[/\\]|uploads\/)/.test(path))
  const inside = rootedPath(new URL(address, `${PLACEHOLDER}${isOfPage ? directoryOf(base) : '/'}`))
  const isResolved = inside === rootPath || inside.startsWith(`${rootPath}/`)
  const origin = root.origin === PLACEHOLDER ? '' : root.origin
  return `${origin}${isResolved ? '' : rootPath}${inside}${url.search}${url.hash}`
}

function directoryOf({ page = '' }: LinkBase): string {
  const directories = page.split('/').slice(0, -1)
  return directories
    .map((each) => `/${encodeURIComponent(each)}`)
    .join('')
    .concat('/')
}

/** Returns the path with one slash at its start: two would begin the name of a host. */
const rootedPath = ({ pathname }: URL) => pathname.replace(/^\/+/, '/')
