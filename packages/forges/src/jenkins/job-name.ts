import { decodedSegment } from '../body/url.ts'

/** A build's place on its server, read from its URL. */
export interface BuildPlace {
  /** The host, and the path that Jenkins is below. */
  readonly server: string
  /** The names of the folders and the job, as Jenkins names them: a branch with a slash is `feature%2Flogin`. */
  readonly names: readonly string[]
}

/** Reads `https://host/prefix/job/folder/job/name/14/`; `undefined` for other URLs. */
export function readBuildPlace(url: string | undefined): BuildPlace | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const { host, pathname } = new URL(url)
  const start = pathname.indexOf('/job/')
  if (start < 0) return undefined
  const names = [...pathname.slice(start).matchAll(/\/job\/([^/]+)/g)].map(([, name = '']) => decodedSegment(name))
  return { server: `${host}${pathname.slice(0, start)}`, names }
}

/** Returns the full name of a job as users see it: names of branches are encoded in it. */
export const displayName = (names: readonly string[]): string => names.map(decodedSegment).join('/')
