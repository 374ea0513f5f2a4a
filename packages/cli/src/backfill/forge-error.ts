import { STATUS_CODES } from 'node:http'
import type { HttpReply } from '@penstock/delivery'

/** What a forge answers, or does not; nothing of the kind can go on. One line for people, without secrets. */
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

/** A longer answer is a page of somebody else's. */
const MAX_SAID_BYTES = 65_536
const MAX_SAID_CHARACTERS = 300

/** For a final refusal. The forge is quoted where its status alone does not say what to do. */
export function refusal(
  path: string,
  { status, headers, body }: Pick<HttpReply, 'status' | 'headers' | 'body'>,
  token: string | undefined,
): ForgeError {
  const known = token ? advice : adviceWithoutToken
  const why = status >= 300 && status < 400 ? redirected(headers.location) : (known[status] ?? said(body, token))
  const line = `${path}: HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
  return new ForgeError(why === undefined ? line : `${line}: ${why}`, status)
}

/** One line of what the forge's JSON says; it may repeat the token, which is left out. */
function said(body: Uint8Array, token: string | undefined): string | undefined {
  if (body.length > MAX_SAID_BYTES) return undefined
  const answer = parsed(Buffer.from(body).toString())
  const text = [answer?.error_description, answer?.message, answer?.error].find((each) => typeof each === 'string')
  if (text === undefined || text.trim() === '') return undefined
  const safe = token ? text.replaceAll(token, '[token]') : text
  const characters = [...safe.replace(/\s+/g, ' ').trim()]
  const isLong = characters.length > MAX_SAID_CHARACTERS
  return isLong ? `${characters.slice(0, MAX_SAID_CHARACTERS - 1).join('')}…` : characters.join('')
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Followed, it would take the token to an address that nobody chose. */
function redirected(location: string | undefined): string {
  const target = location !== undefined && URL.canParse(location) ? new URL(location) : undefined
  const where = target === undefined ? 'elsewhere' : `to ${target.origin}${target.pathname}`
  return `it leads ${where}, where the access token is not sent; name the final address with --from or --project`
}
