import { STATUS_CODES } from 'node:http'
import type { HttpReply } from '@penstock/delivery'
import type { ForgeApi } from '@penstock/forges'

/** The error for a missing or unusable answer of a forge, after which the backfill cannot continue. The message is one line without secrets. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError'
  /** The HTTP status; `undefined` if there is no answer or an invalid one. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

type Advice = Readonly<Record<number, string>>

const adviceWithToken = (needs: string): Advice => ({
  401: 'the access token is wrong or expired (--private-token or PENSTOCK_FORGE_TOKEN)',
  403: `the access token may not read this; it needs ${needs}`,
  404: 'there is nothing at this address that the access token may read',
})

const noToken = 'no access token was given (--private-token or PENSTOCK_FORGE_TOKEN)'
/** The advice if no token was given. Without one, forges answer 404 for private projects. */
const adviceWithoutToken: Advice = { 401: noToken, 403: noToken, 404: noToken }

/**
 * The maximum length of a body that is quoted. A longer one is not the forge's error, but for example an HTML page of a
 * proxy.
 */
const MAX_MESSAGE_BYTES = 65_536
const MAX_MESSAGE_CHARACTERS = 300

/**
 * Returns the error for a final refusal. It quotes the forge if the status alone does not indicate what to do.
 *
 * @param secret a secret in the request besides the token
 */
export function refusal(
  path: string,
  { status, headers, body }: Pick<HttpReply, 'status' | 'headers' | 'body'>,
  { token, api }: { readonly token: string | undefined; readonly api: Pick<ForgeApi, 'tokenNeeds'> },
  secret?: string,
): ForgeError {
  const known = token ? adviceWithToken(api.tokenNeeds) : adviceWithoutToken
  const why =
    status >= 300 && status < 400 ? redirected(headers.location) : (known[status] ?? quotedMessage(body, token, secret))
  const line = `${path}: HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
  return new ForgeError(why === undefined ? line : `${line}: ${why}`, status)
}

/** Returns the message in the forge's JSON as one line, without the token and the secret. */
function quotedMessage(body: Uint8Array, token: string | undefined, secret: string | undefined): string | undefined {
  if (body.length > MAX_MESSAGE_BYTES) return undefined
  const answer = parsed(Buffer.from(body).toString())
  const text = [answer?.error_description, answer?.message, answer?.error].find((each) => typeof each === 'string')
  if (text === undefined || text.trim() === '') return undefined
  const tokenless = token ? text.replaceAll(token, '[token]') : text
  const safe = secret ? tokenless.replaceAll(secret, '[secret]') : tokenless
  const characters = [...safe.replace(/\s+/g, ' ').trim()]
  const isLong = characters.length > MAX_MESSAGE_CHARACTERS
  return isLong ? `${characters.slice(0, MAX_MESSAGE_CHARACTERS - 1).join('')}…` : characters.join('')
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Returns the message for a redirect. It is not followed, because the token would go to an address that the user did not choose. */
function redirected(location: string | undefined): string {
  const target = location !== undefined && URL.canParse(location) ? new URL(location) : undefined
  const where = target === undefined ? 'elsewhere' : `to ${target.origin}${target.pathname}`
  return `it redirects ${where}; the access token is not sent there; set the final address with --from or --project`
}
