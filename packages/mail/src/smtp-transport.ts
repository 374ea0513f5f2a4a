import type { Outcome } from '@penstock/delivery'
import type { Clock } from '@penstock/runtime'
import { createTransport } from 'nodemailer'
import { type Message, mailOf, type Sender } from './message.ts'
import type { MailTransport } from './transport.ts'

/** The address and account of an SMTP server. */
export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** Whether the connection begins with TLS. Otherwise TLS starts with STARTTLS if the server offers it. */
  readonly secure: boolean
  readonly user: string
  readonly password: string
}

const CONNECTIONS = 4
const CONNECT_MS = 10_000
const SILENCE_MS = 30_000
/** The time for one mail, including the wait for a connection. The mail is tried again after it, and may arrive twice. */
export const MAIL_MS = 120_000

/**
 * Returns the server in a URL such as `smtps://user:password@mail.example.test`; `undefined` if the URL has another form.
 * The port is 587, or 465 for `smtps`, unless the URL has one.
 */
export function smtpServerOf(url: string): SmtpServer | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(url)
  const secure = protocol === 'smtps:'
  if (!(secure || protocol === 'smtp:') || hostname === '' || !['', '/'].includes(pathname + search + hash))
    return undefined
  try {
    return {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (secure ? 465 : 587) : Number(port),
      secure,
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
    }
  } catch {
    return undefined
  }
}

/** Sends mails by SMTP. A password is sent only over TLS, except to this machine. */
export function smtpTransport(server: SmtpServer, { sender, clock }: { sender: Sender; clock: Clock }): MailTransport {
  const { host, port, secure, user, password } = server
  const isLocal = ['localhost', '127.0.0.1', '::1'].includes(host)
  const pool = createTransport({
    pool: true,
    host,
    port,
    secure,
    ...(user !== '' && { auth: { user, pass: password } }),
    requireTLS: user !== '' && !secure && !isLocal,
    // A server on this machine rarely has a certificate with the name of the machine.
    ...(isLocal && { tls: { rejectUnauthorized: false } }),
    maxConnections: CONNECTIONS,
    maxMessages: 100,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send(message: Message): Promise<Outcome> {
      const ended = new AbortController()
      try {
        return await Promise.race([
          pool.sendMail(mailOf(message, sender)).then(
            ({ response }): Outcome => ({ kind: 'delivered', rejectedItems: 0, message: reasonOf(response) }),
            (error: SmtpError) => outcomeOf(error),
          ),
          clock.sleep(MAIL_MS, ended.signal).then((): Outcome => retry('the server took too long')),
        ])
      } finally {
        ended.abort()
      }
    },
    async close() {
      pool.close()
    },
  }
}

interface SmtpError extends Error {
  readonly code?: string
  readonly responseCode?: number
  readonly response?: string
}

const retry = (reason: string): Outcome => ({ kind: 'retry', retryAfterMs: 0, reason })

/**
 * A mail that the server refuses for good is dead. Everything else is tried again: a refused account is an error in the
 * settings, and says nothing about the mail. An answer about this mail does not delay others.
 */
function outcomeOf({ code, responseCode, response, message }: SmtpError): Outcome {
  const reason = reasonOf(response ?? message)
  if (responseCode === undefined || (code !== 'EENVELOPE' && code !== 'EMESSAGE')) return retry(reason)
  return responseCode < 500
    ? { kind: 'retry', retryAfterMs: 0, reason, isLocal: true }
    : { kind: 'dead', reason, authentication: false, isLocal: true }
}

const MAX_REASON = 200

/** Returns the answer of the server as one short line of printable characters. */
const reasonOf = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_REASON)
