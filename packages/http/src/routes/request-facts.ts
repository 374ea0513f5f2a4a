import { headerIn } from './credentials.ts'
import type { Incoming } from './route.ts'

/** The values of a request that an application may store or act on; the client chose all of them but `source`. */
interface SentFacts {
  readonly source: string
  readonly userAgent: string | undefined
  readonly eventUuid: string | undefined
  readonly ifUnmodifiedSince: string | undefined
}

/** Returns the address and the headers that an application may store or act on. */
export const factsIn = (
  { raw: { headers }, source }: Pick<Incoming, 'raw' | 'source'>,
  serviceName: string,
): SentFacts => ({
  source,
  userAgent: headers['user-agent'],
  eventUuid: headerIn(headers, `x-${serviceName.toLowerCase()}-event-uuid`),
  ifUnmodifiedSince: headers['if-unmodified-since'],
})
