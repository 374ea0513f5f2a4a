import { isIP } from 'node:net'
import { contentTypes, type Encoding, encodeRpcStatus } from '@penstock/otlp'
import { type Log, type Random, TrustedProxies } from '@penstock/runtime'
import { checkFailed } from '../admission/admission-controller.ts'
import { attributionHeaders, reservedHeaders } from '../attribution/trusted-headers.ts'
import type { Admission, AdmissionRequest, Admitted } from '../contract/admission.ts'
import type { CredentialSource } from '../contract/gateway-config.ts'
import { type Refusal, refusalTable } from '../contract/refusals.ts'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import { type IngestSignal, ingestSignalNames, ingestSignals } from '../contract/signals.ts'
import type { EnforcementMode } from '../contract/snapshot.ts'
import { suggestPath } from '../contract/suggest-path.ts'
import type { WrongPathRequest } from '../contract/wrong-path.ts'
import { credentialHeaders } from '../http/credential.ts'
import { HeadReader } from '../http/http-headers.ts'
import { PathTable } from '../http/http-path.ts'
import { LineThrottle } from '../metrics/line-throttle.ts'
import { checkTarget, lastForwardedFor, type ProxyKind, singleHeader } from './forward-auth-target.ts'

/** The proxies that are trusted if none are configured. */
export const loopbackProxies: readonly string[] = ['127.0.0.0/8', '::1']

export interface ForwardAuthParts {
  readonly admit: (presented: AdmissionRequest) => Admission
  /** Returns the current mode; `undefined` until the store has been read once. */
  readonly mode: () => EnforcementMode | undefined
  /** Addresses and networks of the proxies that may send checks; see `loopbackProxies`. */
  readonly proxies: readonly string[]
  readonly credentialSources: readonly CredentialSource[]
  readonly extraPaths: Readonly<Record<string, IngestSignal>>
  readonly tenantHeader: boolean
  /**
   * Called for each check that is admitted with a token, to count its use. `bytes` is the declared length of the body,
   * or 0.
   */
  readonly onAdmitted?: (admitted: Admitted, signal: IngestSignal, bytes: number) => void
  /** Called for each check of a path that accepts no telemetry. */
  readonly recordWrongPath?: (request: WrongPathRequest) => void
  readonly monotonicMs: () => number
  readonly random: Random
  readonly log: Log
}

export interface Check {
  /** The path and query. */
  readonly url: string
  readonly rawHeaders: readonly string[]
  /** The address of the peer; an IPv4 address in its usual form. */
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
 * Checks requests on behalf of another proxy, which receives and forwards them itself (F-1, F-2, F-4, F-5). The method and the body
 * of the check are ignored. The answer is 200 unless enforcement refuses; failures of the gateway are retryable.
 *
 * Throws `ProxyAddressError` if an entry of `proxies` is not an address or network.
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
  const refused = (refusal: Refusal, proxy: ProxyKind, form: BodyForm) =>
    toRefusalAnswer(refusal, proxy, form, parts.random)

  return ({ url, rawHeaders, source }) => {
    if (!proxies.has(source)) {
      logUnknownProxy(parts, throttle, source)
      return refused({ kind: 'forbidden', message: 'Only configured proxies may send checks.' }, 'generic', 'json')
    }
    try {
      return check(url, rawHeaders, source)
    } catch (error) {
      parts.log.error({ event: 'forward_auth.failed', err: error }, 'a check failed inside the gateway')
      const proxy = checkTarget(url, [])?.proxy ?? 'generic'
      return refused(checkFailed, proxy, 'json')
    }
  }

  function check(url: string, rawHeaders: readonly string[], peer: string): CheckAnswer {
    const headers = headReader.read(rawHeaders, undefined)
    const target = checkTarget(url, headers.forwarded)
    if (target === undefined) return notFound
    const { proxy, original } = target
    const form = original?.startsWith('/opentelemetry.') ? 'text' : (headers.encoding ?? 'json')
    if (original === undefined) return answerOtherPath(proxy, form)
    const { route, path, queryCredential } = paths.find(original)
    const head = queryCredential === undefined ? headers : headReader.read(rawHeaders, queryCredential)
    const client = lastForwardedFor(head.forwarded)
    const declaredBytes =
      proxy === 'nginx' ? byteCount(singleHeader(head.forwarded, 'x-original-content-length')) : undefined
    const checked = {
      transport: 'forward-auth',
      credential: head.credential,
      source: client !== undefined && isIP(client) !== 0 ? client : peer,
      userAgent: head.userAgent,
      requestId: head.requestId,
      declaredBytes,
    } as const
    if (route === undefined || route === 'health') {
      const key = path.startsWith('/opentelemetry.') ? 'grpcMethod' : 'httpPath'
      parts.recordWrongPath?.({ ...checked, path, suggestion: suggestPath(path, key) })
      return answerOtherPath(proxy, form)
    }
    const admission = parts.admit({ ...checked, signal: route, origin: head.origin, certificateNames: undefined })
    if (!admission.admitted) return refused(admission.refusal, proxy, form)
    if (admission.token !== undefined) parts.onAdmitted?.(admission, route, declaredBytes ?? 0)
    return allowed(admission, proxy)
  }

  /**
   * Answers a check of a path that does not belong to a signal, so that no token can give access to it. It is refused
   * only under enforcement (F-2).
   */
  function answerOtherPath(proxy: ProxyKind, form: BodyForm): CheckAnswer {
    const mode = parts.mode()
    if (mode === 'enforce') {
      return refused(
        { kind: 'forbidden', message: 'This path accepts no telemetry, or the proxy did not send the path.' },
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
   * Returns the headers of an answer. For Envoy, they include the list of request headers to remove, because Envoy
   * removes no others: the token, and the reserved names that the client may have sent.
   */
  function withRemovals(headers: Record<string, string>, proxy: ProxyKind): Record<string, string> {
    if (proxy !== 'envoy') return headers
    const absent = reserved.filter((name) => headers[name] === undefined)
    return { ...headers, 'x-envoy-auth-headers-to-remove': [...credentials, ...absent].join(',') }
  }
}

const unverified = { 'x-ingest-auth': 'unverified' }

/** `text` is for gRPC: Envoy copies the body into `grpc-message`. */
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
  // nginx drops the body of a check. Its configuration can create a new one from this header.
  if (proxy === 'nginx') headers['x-ingest-refusal'] = message.replaceAll(/[^ !#-[\]-~]/g, '_')
  const retryDelayMs = retryAfter === undefined ? undefined : retryAfter * 1000
  return {
    // Envoy treats a 5xx as a failed check, and by default answers the client with 403, which makes it drop its data.
    status: proxy === 'envoy' && http >= 500 ? 429 : http,
    headers,
    body: form === 'text' ? Buffer.from(message) : encodeRpcStatus({ code: grpc, message, retryDelayMs }, form),
  }
}

function logUnknownProxy({ log, monotonicMs }: ForwardAuthParts, throttle: LineThrottle, source: string): void {
  const atMs = monotonicMs()
  const suppressed = throttle.suppressedBefore(source, 'stranger', undefined, atMs)
  if (suppressed < 0) return
  throttle.sweep(atMs)
  log.warn(
    { event: 'forward_auth.stranger', source, suppressed },
    'a check from an address that is not a configured proxy was refused',
  )
}

function byteCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
