import type { RequestListener } from 'node:http'
import { type CredentialRefusal, forges, type HookRules, OtherHookError, RecordError } from '@penstock/forges'
import {
  apiHeaders,
  guarded,
  type Incoming,
  type Reply,
  RequestProblem,
  type RouteRequest,
  readBytes,
  requireUncompressed,
  serveRoutes,
} from '@penstock/http'
import { type JsonLimits, JsonScanner, recordJsonLimits } from '@penstock/json'
import { type Clock, type Log, subscriberOf, type TrustedProxies } from '@penstock/runtime'
import { findAnnouncedRun, namedRunFetch } from '../fetching/announced-run.ts'
import type { RunFetcher } from '../fetching/run-fetcher.ts'
import type { RecordIntake } from '../intake/record-intake.ts'
import type { BodyReader } from '../records/body-reader.ts'
import type { IntakeResult } from '../records/intake-request.ts'
import type { ReceivedBody } from '../records/received-body.ts'
import { sourceRequest } from '../sources/source-request.ts'
import type { Source, Sources } from '../sources/sources.ts'
import { FailureLimit } from './failure-limit.ts'
import { formPayload, isForm, MAX_FORM_BYTES } from './form-payload.ts'
import { HookRefusal, overloaded, renderError } from './hook-refusal.ts'

/** The path prefix of requests that belong to this listener. */
export const HOOKS_PATH = '/hooks/pipelines/'

export interface HooksOptions {
  readonly sources: Sources
  readonly intake: Pick<RecordIntake, 'enqueueShared'>
  /** Reads runs from the forges of sources with an API. */
  readonly fetcher: Pick<RunFetcher, 'enqueue' | 'wake'>
  readonly bodies: Pick<BodyReader, 'read'>
  /** The service name in the headers `X-<ServiceName>-Event` and `-Token`, which are accepted beside `X-Gitlab-…`. */
  readonly serviceName: string
  readonly clock: Clock
  readonly log: Log
  readonly trustedProxies?: TrustedProxies
  readonly limits?: Partial<HookLimits>
}

export interface HookLimits {
  /** The size limit of one body. */
  readonly bodyBytes: number
  /** The limits on containers, values and levels of one body. */
  readonly json: JsonLimits
  /** The highest number of jobs of one pipeline, bridges included. */
  readonly jobs: number
  /** The size limit of all bodies in progress together, from the first byte until the reply. */
  readonly allBodiesBytes: number
  /**
   * The same limit for one source: a signature can be verified only after the whole body, so
   * anyone can send bodies until then.
   */
  readonly sourceBodiesBytes: number
  /**
   * The number of wrong credentials per source, address and minute after which all further
   * requests of the address are refused.
   */
  readonly failuresPerMinute: number
}

/** The default limits. A forge sends hooks of at most 25 MB. */
const defaultHookLimits: HookLimits = {
  bodyBytes: 25 * 1024 * 1024,
  json: recordJsonLimits,
  jobs: 20_000,
  allBodiesBytes: 128 * 1024 * 1024,
  sourceBodiesBytes: 64 * 1024 * 1024,
  failuresPerMinute: 30,
}

interface AuthenticatedSource {
  readonly source: Source
  /** How the forge of the source sends hooks. */
  readonly rules: HookRules
  /** Counts and logs a wrong credential, and throws the refusal. */
  readonly refuse: (reason: CredentialRefusal) => never
}

/**
 * Receives the pipeline and job hooks of forges outside the core: `POST /hooks/pipelines/:source`.
 *
 * The checks are made in this order: source (404), earlier wrong credentials (429), secret token and time of the signature
 * (401), size and coding of the body (413, 415), signature (401), event, record (400). A 202 means that the content is stored
 * durably.
 */
export function hooksListener(options: HooksOptions): RequestListener {
  const limits = { ...defaultHookLimits, ...options.limits }
  let heldBytes = 0
  const heldBytesBySource = new Map<Source, number>()

  async function handle({ raw }: RouteRequest, { source, rules, refuse }: AuthenticatedSource): Promise<Reply> {
    requireUncompressed(raw)
    let ownBytes = 0
    const hold = (bytes: number): void => {
      const ofSource = (heldBytesBySource.get(source) ?? 0) + bytes
      if (heldBytes + bytes > limits.allBodiesBytes || ofSource > limits.sourceBodiesBytes) throw overloaded()
      heldBytes += bytes
      heldBytesBySource.set(source, ofSource)
      ownBytes += bytes
    }
    try {
      const scanner = new JsonScanner(limits.json)
      const formSigns = isForm(raw.headers) ? rules.formSigns : undefined
      const maxBytes = formSigns === undefined ? limits.bodyBytes : Math.min(limits.bodyBytes, MAX_FORM_BYTES)
      const received = await readBytes(raw, maxBytes, (chunk) => {
        hold(chunk.length)
        if (formSigns === undefined) scanner.write(chunk)
      })
      const bytes = formSigns === undefined ? received : formPayload(received)
      if (formSigns !== undefined) {
        hold(bytes.length)
        scanner.write(bytes)
      }
      const signed = formSigns === 'form' ? received : bytes
      const refusal = rules.validateSignature(source.credentials, raw.headers, signed)
      if (refusal !== undefined) refuse(refusal)
      // Checked after the signature, so that a caller who cannot sign learns nothing about the body.
      const excess = scanner.exceeded
      if (excess !== undefined) {
        throw new RequestProblem({ kind: 'json_beyond_limit', limit: excess, most: limits.json[excess] })
      }
      const event = rules.event(raw.headers, options.serviceName)
      if (event !== undefined && !rules.recordEvents.includes(event)) return ignored
      const isMixed = event !== undefined && event === rules.mixedEvent
      return await receiveHook(options, source, isMixed, bytes, limits.jobs)
    } finally {
      heldBytes -= ownBytes
      heldBytesBySource.set(source, (heldBytesBySource.get(source) ?? 0) - ownBytes)
    }
  }

  const route = { method: 'POST', path: `${HOOKS_PATH}:source`, access: undefined, handle } as const
  return serveRoutes(guarded([route], authenticate(options, limits.failuresPerMinute)), {
    renderError,
    headers: apiHeaders,
    log: options.log,
    takesTrailingSlash: true,
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
  })
}

/** Returns the check that runs before the body is read: source, failure limit, and credential headers. */
function authenticate(options: HooksOptions, failuresPerMinute: number): (incoming: Incoming) => AuthenticatedSource {
  const { sources, serviceName, clock, log } = options
  const failures = new FailureLimit(failuresPerMinute)
  return (incoming) => {
    const source = sources.get(incoming.path.slice(HOOKS_PATH.length).replace(/\/$/, ''))
    if (source === undefined) throw new HookRefusal(404)
    const key = `${source.name} ${subscriberOf(incoming.source)}`
    const atMs = clock.monotonicMs()
    const secondsLeft = failures.secondsLeft(key, atMs)
    if (secondsLeft > 0) throw new HookRefusal(429, { 'Retry-After': String(secondsLeft) })

    const refuse = (reason: CredentialRefusal): never => {
      const fields = { event: 'hooks.credential_refused', source: source.name, address: incoming.source, reason }
      // Only the first failure of a minute is logged.
      if (failures.count(key, atMs)) log.warn(fields, 'A hook had no valid credential')
      throw new HookRefusal(401)
    }
    const rules = forges[source.forge].hooks
    const { headers } = incoming.raw
    const refusal = rules.validateHeaders(source.credentials, { headers, serviceName, nowMs: clock.nowMs() })
    return refusal === undefined ? { source, rules, refuse } : refuse(refusal)
  }
}

/**
 * Stores a hook.
 * @param isMixed whether its event is also about things that are not records
 */
async function receiveHook(
  { intake, fetcher, bodies, clock }: HooksOptions,
  source: Source,
  isMixed: boolean,
  bytes: Buffer,
  maxJobs: number,
): Promise<Reply> {
  const receivedAtNs = clock.nowNs()
  // Found first, because a large body is moved to another thread.
  const run = source.api && findAnnouncedRun(source.api, bytes)
  const fetch = run && namedRunFetch(source, run, bytes, receivedAtNs)
  const body = await readRecord(isMixed, () => bodies.read(bytes, { receivedAtNs, maxJobs, forge: source.forge }))
  if (body === undefined) return fetch === undefined ? ignored : replyToNamedRun(await fetcher.enqueue(fetch))
  const request = sourceRequest(source, body, receivedAtNs)
  const result = await intake.enqueueShared({ ...request, runReference: fetch?.reference })
  if (result.kind === 'enqueued' && fetch !== undefined) fetcher.wake()
  return replyTo(result)
}

const replyToNamedRun = (isNew: boolean): Reply => ({
  status: 202,
  json: {
    result: 'kept',
    reason: isNew ? 'the run will be read from the forge' : 'the run is read from the forge once',
  },
})

/**
 * The reply to hooks about other events. They are not refused, because a webhook may have other triggers too, and the
 * forge would disable it after refusals.
 */
const ignored: Reply = {
  status: 202,
  json: { result: 'ignored', reason: 'only pipeline and job hooks are kept' },
}

/**
 * Returns the record or job event; `undefined` for hooks about other events.
 *
 * @throws RecordError
 */
async function readRecord(isMixed: boolean, read: () => Promise<ReceivedBody>): Promise<ReceivedBody | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof OtherHookError) return undefined
    const isOtherKind = error instanceof RecordError && error.path === '' && error.line === undefined
    if (isOtherKind && isMixed) return undefined
    throw error
  }
}

/** The highest number of warnings in a reply. The forge shows them to the person who set up the webhook. */
const MAX_REPLY_WARNINGS = 10

function replyTo(result: IntakeResult): Reply {
  const warnings = result.warnings.items
    .slice(0, MAX_REPLY_WARNINGS)
    .map(({ path, reason }) => (path === '' ? reason : `${path}: ${reason}`))
  const detail = result.kind === 'enqueued' ? { signals: result.signals } : { reason: result.reason }
  return { status: 202, json: { result: result.kind, ...detail, ...(warnings.length > 0 && { warnings }) } }
}
