import { STATUS_CODES } from 'node:http'

/** What a forge answers, or does not; nothing of the kind can go on. One line for people, without what was sent. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError'
  /** Undefined: no answer, or one that makes no sense. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

const advice: Readonly<Record<number, string>> = {
  401: 'the access token is wrong or expired (--private-token or PENSTOCK_FORGE_TOKEN)',
  403: 'the access token may not read this; it needs the scope read_api and access to the project',
  404: 'nothing there that this access token may see',
}

const tokenless = 'no access token was given (--private-token or PENSTOCK_FORGE_TOKEN)'
/** What is not public is hidden from strangers. */
const adviceWithoutToken: typeof advice = { 401: tokenless, 403: tokenless, 404: tokenless }

/** For a final refusal. Its body is not quoted: it may repeat the token. */
export function refusal(
  path: string,
  { status, location, hasToken }: { status: number; location: string | undefined; hasToken: boolean },
): ForgeError {
  const why = status >= 300 && status < 400 ? redirected(location) : (hasToken ? advice : adviceWithoutToken)[status]
  const line = `${path}: HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
  return new ForgeError(why === undefined ? line : `${line}: ${why}`, status)
}

/** Followed, it would take the token to an address that nobody chose. */
function redirected(location: string | undefined): string {
  const target = location !== undefined && URL.canParse(location) ? new URL(location) : undefined
  const where = target === undefined ? 'elsewhere' : `to ${target.origin}${target.pathname}`
  return `it leads ${where}, where the access token is not sent; name the final address with --from or --project`
}
