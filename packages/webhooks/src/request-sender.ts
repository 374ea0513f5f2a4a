import type { Core, HookCallEnd } from '@penstock/core'
import { defaultHttpClientLimits, HttpClient, type HttpReply, type NetworkFailure } from '@penstock/delivery'
import { readAddressPolicy } from './address-policy.ts'
import type { PreparedRequest } from './prepare-call.ts'

const MAX_REDIRECTS = 5
const TIMEOUT_MS = 10_000
const MAX_LOGGED_HEADERS = 50
const MAX_HEADER_BYTES = 1_024
const MAX_LOGGED_BODY_BYTES = 8 * 1_024
const CONNECTIONS_PER_ORIGIN = 16

const limits = {
  ...defaultHttpClientLimits,
  connections: CONNECTIONS_PER_ORIGIN,
  connectTimeoutMs: TIMEOUT_MS,
  headersTimeoutMs: TIMEOUT_MS,
  bodyTimeoutMs: TIMEOUT_MS,
}

/** Sends requests to the receivers of hooks, with redirects. Every address is judged by the settings in force. */
export class RequestSender {
  readonly #core: Core
  readonly #timeoutMs: number
  readonly #verifying: HttpClient
  readonly #trusting: HttpClient
  #policy: Awaited<ReturnType<typeof readAddressPolicy>> | undefined

  /** @param timeoutMs the time for a request and its redirects together */
  constructor(core: Core, timeoutMs = TIMEOUT_MS) {
    this.#core = core
    this.#timeoutMs = timeoutMs
    const policy = () => this.#policy!
    this.#verifying = new HttpClient(limits, policy)
    this.#trusting = new HttpClient({ ...limits, verifiesTls: false }, policy)
  }

  async send(request: PreparedRequest, verifiesTls: boolean): Promise<HookCallEnd> {
    const { clock } = this.#core
    const beganMs = clock.monotonicMs()
    this.#policy = await readAddressPolicy(this.#core)
    const reply = await this.#follow(request, verifiesTls ? this.#verifying : this.#trusting)
    const durationMs = Math.max(clock.monotonicMs() - beganMs, 0)
    if (reply.kind === 'failure') return failedCall(reply.reason, durationMs)
    if (isCutOff(reply)) return failedCall('the answer ended early, or not in time', durationMs)
    return {
      status: reply.status,
      internalError: undefined,
      responseHeaders: loggedHeaders(reply),
      responseBody: loggedBody(reply),
      durationMs,
    }
  }

  /** Waits for the requests in progress. */
  async close(): Promise<void> {
    await Promise.all([this.#verifying.close(), this.#trusting.close()])
  }

  async #follow(request: PreparedRequest, client: HttpClient): Promise<HttpReply | NetworkFailure> {
    const { clock } = this.#core
    const deadlineMs = clock.monotonicMs() + this.#timeoutMs
    let { url, headers, body } = request
    let method: 'GET' | 'POST' = 'POST'
    for (let redirects = 0; ; redirects += 1) {
      const timeoutMs = Math.max(deadlineMs - clock.monotonicMs(), 1)
      const reply = await client.send({ method, url, headers, body, timeoutMs })
      const next = reply.kind === 'reply' ? redirectOf(reply, url) : undefined
      if (next === undefined || reply.kind === 'failure') return reply
      if (redirects === MAX_REDIRECTS) return failure('too many redirects')
      if (next.origin !== url.origin) headers = without(headers, request.secretHeaders)
      if (reply.status < 307) {
        method = 'GET'
        body = new Uint8Array()
        headers = without(headers, new Set(['content-type']))
      }
      url = next
    }
  }
}

/** Returns whether a body ended before its announced end. Bodies that are only longer than what is kept are treated as complete. */
const isCutOff = ({ truncated, body }: HttpReply): boolean => truncated && body.length < limits.keptReplyBytes

export const failedCall = (reason: string, durationMs = 0): HookCallEnd => ({
  status: undefined,
  internalError: reason,
  responseHeaders: {},
  responseBody: '',
  durationMs,
})

const failure = (reason: string): NetworkFailure => ({ kind: 'failure', code: 'PENSTOCK_REDIRECTS', reason })

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Returns where a reply redirects to. A redirect to another scheme than HTTP is the final answer. */
function redirectOf({ status, headers }: HttpReply, from: URL): URL | undefined {
  const { location } = headers
  if (!redirectStatuses.has(status) || location === undefined || !URL.canParse(location, from.href)) return undefined
  const url = new URL(location, from)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  url.username = ''
  url.password = ''
  url.hash = ''
  return url
}

const without = (headers: Readonly<Record<string, string>>, names: ReadonlySet<string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase())))

const titled = (name: string): string => name.replaceAll(/(^|-)([a-z])/g, (letters) => letters.toUpperCase())

const loggedHeaders = ({ headers }: HttpReply): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, MAX_LOGGED_HEADERS)
      .map(([name, value]) => [titled(name), cut(Buffer.from(value), MAX_HEADER_BYTES)]),
  )

const loggedBody = ({ body }: HttpReply): string => cut(body, MAX_LOGGED_BODY_BYTES)

/** Returns the beginning of a text, without half a character at its end, and without null characters. */
function cut(bytes: Uint8Array, max: number): string {
  const text = Buffer.from(bytes.subarray(0, max)).toString()
  const whole = bytes.length > max ? text.replace(/\ufffd$/, '') : text
  return whole.replaceAll('\0', '\ufffd')
}
