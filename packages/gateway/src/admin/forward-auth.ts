import { isIP } from 'node:net'
import { contentTypes, type Encoding, encodeRpcStatus } from '@penstock/otlp'
import { type Log, type Random, TrustedProxies } from '@penstock/runtime'
import { attributionHeaders, reservedHeaders } from '../attribution/trusted-headers.ts'
import type { CredentialSource } from '../gateway-config.ts'
import type { Admission, Admitted, Presented } from '../ingest/admission.ts'
import { credentialHeaders } from '../ingest/credential.ts'
import { HeadReader } from '../ingest/http-headers.ts'
import { PathTable } from '../ingest/http-path.ts'
import { type Refusal, refusalTable } from '../ingest/refusals.ts'
import { type IngestSignal, ingestSignalNames, ingestSignals } from '../ingest/signals.ts'
import { LineThrottle } from '../metrics/line-throttle.ts'
import type { EnforcementMode } from '../tokens/snapshot.ts'
import { retryAfterSeconds } from '../upstream/status-codes.ts'
import { checkTarget, lastForwardedFor, singleHeader, type ProxyKind } from './forward-auth-target.ts'

/** The proxies that may ask when nothing is configured. */
export const loopbackProxies: readonly string[] = ['127.0.0.0/8', '::1']

export interface ForwardAuthParts {
  readonly admit: (presented: Presented) => Admission
  /** `undefined` until the store has been read once. */
  readonly mode: () => EnforcementMode | undefined
  /** Addresses and networks of the proxies that may ask; see `loopbackProxies`. */
  readonly proxies: readonly string[]
  readonly credentialSources: readonly CredentialSource[]
  readonly extraPaths: Readonly<Record<string, IngestSignal>>
  readonly tenantHeader: boolean
  /** Of every check that ends in 200 with a token: for its use and its metrics. Bytes as declared, 0 when not. */
  readonly onAdmitted?: (admitted: Admitted, signal: IngestSignal, bytes: number) => void
  readonly nowMs: () => number
  readonly random: Random
  readonly log: Log
}

export interface Check {
  /** Path and query. */
  readonly url: string
  readonly rawHeaders: readonly string[]
  /** Address of the peer; IPv4 in its own form. */
  readonly source: string
}

export interface CheckAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

export type ForwardAuth = (check: Check) => CheckAnswer

const common = { 'cache-control': 'no-store', 'x-ingest-capabilities': 'auth' }
const notFound: CheckAnswer = { status: 404, headers: common, body: undefined }

/**
 * Judges requests on behalf of another proxy, which has them and forwards them itself. Method and body of the check do
 * not matter. Only where enforcement refuses is the answer anything but 200; what is wrong with us is retryable.
 *
 * Throws `ProxyAddressError` when `proxies` are not addresses.
 *
 * @see spec/otlp-gateway.md 7 (F-1 to F-6)
 */
export function forwardAuth(parts: ForwardAuthParts): ForwardAuth {
  const proxies = new TrustedProxies(parts.proxies)
  const headReader = new HeadReader({ credentialSources: parts.credentialSources, passCredentialThrough: false })
  const paths = new PathTable(
    {
      ...Object.fromEntries(ingestSignalNames.map((signal) => [ingestSignals[signal].grpcMethod, signal])),
      ...parts.extraPaths,
    },
    { readsQuery: parts.credentialSources.includes('query') },
  )
  const credentials = ['authorization', ...credentialHeaders(parts.credentialSources)]
  const reserved = [...reservedHeaders(parts)]
  const throttle = new LineThrottle()
  const refused = (refusal: Refusal, proxy: ProxyKind, form: BodyForm) => toRefusalAnswer(refusal, proxy, form, parts.random)

  return ({ url, rawHeaders, source }) => {
    if (!proxies.has(source)) {
      logUnknownProxy(parts, throttle, source)
      return refused({ kind: 'forbidden', message: 'Only configured proxies may ask.' }, 'generic', 'json')
    }
    try {
      return check(url, rawHeaders, source)
    } catch (error) {
      parts.log.error({ event: 'forward_auth.failed', err: error }, 'a check failed inside the gateway')
      const proxy = checkTarget(url, [])?.proxy ?? 'generic'
      return refused({ kind: 'internal', message: 'The gateway has failed to judge this request.' }, proxy, 'json')
    }
  }

  function check(url: string, rawHeaders: readonly string[], peer: string): CheckAnswer {
    const headers = headReader.read(rawHeaders, undefined)
    const target = checkTarget(url, headers.forwarded)
    if (target === undefined) return notFound
    const { proxy, original } = target
    const form = original?.startsWith('/opentelemetry.') ? 'text' : (headers.encoding ?? 'json')
    const { route, queryCredential } = original === undefined ? noRoute : paths.find(original)
    if (route === undefined || route === 'health') return answerOtherPath(proxy, form)

    const head = queryCredential === undefined ? named : headReader.read(rawHeaders, queryCredential)
    const client = lastForwardedFor(head.forwarded)
    const declaredBytes = proxy === 'nginx' ? byteCount(singleHeader(head.forwarded, 'x-original-content-length')) : undefined
    const admission = parts.admit({
      transport: 'forward-auth',
      signal: route,
      credential: head.credential,
      origin: head.origin,
      certificateNames: undefined,
      source: client !== undefined && isIP(client) !== 0 ? client : peer,
      userAgent: head.userAgent,
      requestId: head.requestId,
      declaredBytes,
    })
    if (!admission.admitted) return refused(admission.refusal, proxy, form)
    if (admission.token !== undefined) parts.onAdmitted?.(admission, route, declaredBytes ?? 0)
    return allowed(admission, proxy)
  }

  /** A path that carries no signal: nothing there that a token could open. Only enforcement may stop it (F-2). */
  function answerOtherPath(proxy: ProxyKind, form: BodyForm): CheckAnswer {
    const mode = parts.mode()
    if (mode === 'enforce') {
      return refused(
        { kind: 'forbidden', message: 'This path takes no telemetry, or the proxy has not said the path.' },
        proxy,
        form,
      )
    }
    if (mode === undefined) {
      return refused({ kind: 'store_unreadable', message: 'The gateway has not read its tokens yet.' }, proxy, form)
    }
    return {
      status: 200,
      headers: withRemovals({ ...common, ...unverified, 'x-ingest-would-reject': 'path' }, proxy),
      body: undefined,
    }
  }

  function allowed(admitted: Admitted, proxy: ProxyKind): CheckAnswer {
    const headers: Record<string, string> = { ...common }
    const trusted = attributionHeaders(admitted, parts)
    for (let at = 0; at < trusted.length; at += 2) headers[trusted[at]!] = trusted[at + 1]!
    if (admitted.wouldReject !== undefined) {
      Object.assign(headers, unverified, { 'x-ingest-would-reject': admitted.wouldReject })
    }
    if (admitted.expiresAt !== undefined) headers['x-ingest-token-expires'] = admitted.expiresAt
    return { status: 200, headers: withRemovals(headers, proxy), body: undefined }
  }

  /**
   * Envoy sets the headers we name, and takes away only those we tell it to: neither may the token travel on, nor
   * what a client says under our names.
   */
  function withRemovals(headers: Record<string, string>, proxy: ProxyKind): Record<string, string> {
    if (proxy !== 'envoy') return headers
    const absent = reserved.filter((name) => headers[name] === undefined)
    return { ...headers, 'x-envoy-auth-headers-to-remove': [...credentials, ...absent].join(',') }
  }
}

const noRoute = { route: undefined, queryCredential: undefined }
const unverified = { 'x-ingest-auth': 'unverified' }

/** `text`: Envoy makes a `grpc-message` of the body. */
type BodyForm = Encoding | 'text'

function toRefusalAnswer(refusal: Refusal, proxy: ProxyKind, form: BodyForm, random: Random): CheckAnswer {
  const { kind, message, challenge } = refusal
  const { http, grpc, retry } = refusalTable[kind]
  const retryAfter = retry ? (refusal.retryAfterSeconds ?? retryAfterSeconds(random)) : undefined
  const headers: Record<string, string> = {
    ...common,
    'content-type': form === 'text' ? 'text/plain; charset=utf-8' : contentTypes[form],
  }
  if (challenge !== undefined) headers['www-authenticate'] = challenge
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter)
  // nginx drops the body of a check; from the header its configuration can make a new one.
  if (proxy === 'nginx') headers['x-ingest-refusal'] = message.replaceAll(/[^ !#-[\]-~]/g, '_')
  const retryDelayMs = retryAfter === undefined ? undefined : retryAfter * 1000
  return {
    // To Envoy a 5xx is a broken check, which it answers with 403 unless told otherwise: the client would drop its data.
    status: proxy === 'envoy' && http >= 500 ? 429 : http,
    headers,
    body: form === 'text' ? Buffer.from(message) : encodeRpcStatus({ code: grpc, message, retryDelayMs }, form),
  }
}

function logUnknownProxy({ log, nowMs }: ForwardAuthParts, throttle: LineThrottle, source: string): void {
  const atMs = nowMs()
  const suppressed = throttle.suppressedBefore(source, 'stranger', undefined, atMs)
  if (suppressed < 0) return
  throttle.sweep(atMs)
  log.warn(
    { event: 'forward_auth.stranger', source, suppressed },
    'somebody who is no configured proxy asks for checks',
  )
}

function byteCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
