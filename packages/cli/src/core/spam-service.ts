import { DomainError, type SpamCheck, type SpamSuspect } from '@penstock/core'
import { HttpClient } from '@penstock/delivery'

/** A service that recognizes spam, with the interface of Akismet's `comment-check`. */
interface SpamService {
  readonly url: string
  readonly key: string
  /** The external URL of this core. */
  readonly site: string
}

/** A spam check that may hold connections. */
export interface ClosableSpamCheck {
  readonly check: SpamCheck
  /** Waits for the requests in progress. */
  close(): Promise<void>
}

const TIMEOUT_MS = 5_000
const RETRY_AFTER_SECONDS = 30
/** The longest text that is sent to the service. */
const MAX_CONTENT_CHARACTERS = 100_000

/**
 * Returns a spam check that asks a service about every public text, except those of bots.
 *
 * @param challenge decides about texts that the service recognizes as spam. Without it they are refused
 */
export function spamServiceCheck(service: SpamService, challenge?: ClosableSpamCheck): ClosableSpamCheck {
  const client = new HttpClient()
  return {
    async check(suspect) {
      if (!suspect.isPublic || suspect.author.botHome !== undefined) return { kind: 'ok' }
      if (!(await isSpam(client, service, suspect))) return { kind: 'ok' }
      return challenge === undefined ? { kind: 'spam' } : challenge.check(suspect)
    },
    async close() {
      await client.close()
      await challenge?.close()
    },
  }
}

/** @throws DomainError `unavailable` if the service gives no usable answer */
async function isSpam(client: HttpClient, { url, key, site }: SpamService, suspect: SpamSuspect): Promise<boolean> {
  const reply = await client.send({
    method: 'POST',
    url: new URL(url),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(
      new URLSearchParams({
        api_key: key,
        blog: site,
        user_ip: suspect.address ?? '',
        user_agent: suspect.userAgent ?? '',
        comment_type: 'comment',
        comment_author: suspect.author.username,
        comment_content: content(suspect),
      }).toString(),
    ),
    timeoutMs: TIMEOUT_MS,
  })
  const answer = reply.kind === 'reply' && reply.status === 200 ? Buffer.from(reply.body).toString('utf8').trim() : ''
  if (answer !== 'true' && answer !== 'false') {
    throw new DomainError({ code: 'unavailable', retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
  return answer === 'true'
}

const content = ({ title, description = '', files = [] }: SpamSuspect): string =>
  [title, description, ...files.map((file) => file.content)].join('\n\n').slice(0, MAX_CONTENT_CHARACTERS)
