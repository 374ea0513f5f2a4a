import { connect, type Socket } from 'node:net'
import type { Outcome } from '@penstock/delivery'
import type { Clock } from '@penstock/runtime'
import { type Message, type Sender, toMail } from './message.ts'
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
export function parseSmtpUrl(url: string): SmtpServer | undefined {
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
  let pool: SmtpPool | undefined
  return {
    async send(message: Message): Promise<Outcome> {
      pool ??= new SmtpPool(server)
      const used = pool
      const ended = new AbortController()
      try {
        return await Promise.race([
          used.send(message, sender),
          clock.sleep(MAIL_MS, ended.signal).then((): Outcome => {
            // A server that sends a byte now and then would keep the connections, and the mails that wait for them, for ever.
            if (pool === used) pool = undefined
            used.abandon()
            return retry('the server took too long')
          }),
        ])
      } finally {
        ended.abort()
      }
    },
    async close() {
      pool?.close()
    },
  }
}

type Connected = (error: Error | null, opened: { readonly connection: Socket } | undefined) => void

/** The connections to a server, and the mails that wait for one. */
class SmtpPool {
  readonly #sockets = new Set<Socket>()
  readonly #pool

  constructor(server: SmtpServer) {
    this.#pool = this.#open(server)
  }

  async #open({ host, port, secure, user, password }: SmtpServer) {
    // Loaded with the first mail, because most starts send none.
    const { createTransport } = await import('nodemailer')
    const isLocal = ['localhost', '127.0.0.1', '::1'].includes(host)
    return createTransport({
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
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
      getSocket: (_options: unknown, callback: Connected) => this.#connect({ host, port }, callback),
    })
  }

  async send(message: Message, sender: Sender): Promise<Outcome> {
    const pool = await this.#pool
    return pool.sendMail(toMail(message, sender)).then(
      ({ response }): Outcome => ({ kind: 'delivered', rejectedItems: 0, message: reasonOf(response) }),
      (error: SmtpError) => outcomeOf(error),
    )
  }

  /** Closes the connections when the mails in progress are sent. */
  close(): void {
    void this.#pool.then((pool) => pool.close())
  }

  /** Closes the connections now. The mails in progress, and those that wait, fail. */
  abandon(): void {
    this.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #connect(to: { readonly host: string; readonly port: number }, callback: Connected): void {
    const socket = connect(to)
    this.#sockets.add(socket)
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('the server did not answer in time')))
    const fail = (error: Error) => callback(error, undefined)
    socket.once('error', fail)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.once('connect', () => {
      socket.setTimeout(0)
      socket.removeAllListeners('timeout')
      socket.off('error', fail)
      callback(null, { connection: socket })
    })
  }
}

interface SmtpError extends Error {
  readonly code?: string
  /** The command that was answered. */
  readonly command?: string
  readonly responseCode?: number
  readonly response?: string
}

const retry = (reason: string): Outcome => ({ kind: 'retry', retryAfterMs: 0, reason })

/** The codes that say nothing about the mail: the server closes (421), or requires a sign-in, encryption or another account. */
const aboutServer: ReadonlySet<number> = new Set([421, 530, 534, 535, 538])
const MESSAGE_TOO_BIG = 552

/**
 * A mail that the server refuses for good is dead, as is one that the library refuses because no server would take its address.
 * Everything else is tried again: a refused account or sender is an error in the settings, and says nothing about the mail. An
 * answer about this mail does not delay others.
 */
function outcomeOf({ code, command, responseCode, response, message }: SmtpError): Outcome {
  const reason = reasonOf(response ?? message)
  const isAboutMail = code === 'EENVELOPE' || code === 'EMESSAGE'
  if (!isAboutMail || aboutServer.has(responseCode ?? 0)) return retry(reason)
  const isRefused = responseCode === undefined || responseCode >= 500
  if (isRefused && command === 'MAIL FROM' && responseCode !== undefined && responseCode !== MESSAGE_TOO_BIG)
    return retry(reason)
  return isRefused
    ? { kind: 'dead', reason, authentication: false, isLocal: true }
    : { kind: 'retry', retryAfterMs: 0, reason, isLocal: true }
}

const MAX_REASON = 200

/** Returns the answer of the server as one short line of printable characters. */
const reasonOf = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_REASON)
