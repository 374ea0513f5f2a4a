import { type Incoming, type Reply, type Route, readStaticFiles, type StaticFile } from '@penstock/http'

/** The built console. */
export interface ConsoleFiles {
  /** The directory may be missing. */
  readonly directory: string
  /** The paths of the pages. All have the same document, which shows the page of its address. */
  readonly paths: readonly string[]
}

/** The policy of the console: everything comes from this address, and no text of telemetry can become markup or script. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** The name of a file in this folder contains a hash of its content. */
const HASHED_FOLDER = 'assets/'
const IMMUTABLE = 'public, max-age=31536000, immutable'
/** A browser may keep the page, but asks each time whether it is current. */
const REVALIDATE = 'no-cache'
/** A later version may have a page at the address. */
const NEVER_KEPT = 'no-store'

const notBuilt: Reply = {
  status: 404,
  content: 'The console is not built here. Run "npm run setup" in the checkout, then start Penstock again.\n',
  contentType: 'text/plain; charset=utf-8',
}

/** The served console. */
export interface ServedConsole {
  readonly routes: readonly Route<undefined, undefined>[]
  /** Returns the document of the pages with 404, which says that there is no page at its address; missing without a build. */
  readonly notFoundPage?: (incoming: Incoming) => Promise<Reply>
}

/** Returns the routes of the console. Without its directory, its pages are answered with a 404 that says why. */
export async function serveConsole({ directory, paths }: ConsoleFiles): Promise<ServedConsole> {
  const consolePaths = ['/', ...paths]
  const files = await readStaticFiles(directory)
  const index = files?.get('index.html')
  if (files === undefined || index === undefined) {
    return { routes: consolePaths.map((path) => route(path, () => notBuilt)) }
  }
  return {
    routes: [
      ...consolePaths.map((path) => route(path, page(index, REVALIDATE))),
      ...[...files]
        .filter(([name, file]) => file !== index && isRoutable(name))
        .map(([name, file]) => route(`/${name}`, page(file, name.startsWith(HASHED_FOLDER) ? IMMUTABLE : REVALIDATE))),
    ],
    notFoundPage: async (incoming) => {
      const reply = await page(index, NEVER_KEPT)(incoming)
      return reply.status === 200 ? { ...reply, status: 404 } : reply
    },
  }
}

/** Returns whether a name has no character with a meaning in the path of a route. */
const isRoutable = (name: string): boolean => /^[\w./-]+$/.test(name)

const pageHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  // A page that has opened this one cannot navigate it.
  'Cross-Origin-Opener-Policy': 'same-origin',
}

function page(file: StaticFile, cacheControl: string) {
  return async ({ raw }: Incoming): Promise<Reply> => {
    const reply = await file.reply(raw.headers, cacheControl)
    return { ...reply, headers: { ...reply.headers, ...pageHeaders } }
  }
}

const route = (path: string, handle: Route<undefined, undefined>['handle']): Route<undefined, undefined> => ({
  method: 'GET',
  path,
  access: undefined,
  handle,
})
