import type { RequestListener } from 'node:http'
import { OtherHookError, RecordError } from '@penstock/converter'
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
import type { BodyReader } from '../body-reader.ts'
import type { ReceivedBody } from '../received-body.ts'
import type { RecordIntake, Taken } from '../record-intake.ts'
import { type CredentialRefusal, refusalOfBody, refusalOfHead } from './credential.ts'
import { FailureLimit } from './failure-limit.ts'
import { HookRefusal, overloaded, renderError } from './hook-refusal.ts'
import { type Source, type Sources, sourceScope } from './sources.ts'

/** Whoever hosts the listener gives it what begins with this. */
export const HOOKS_PATH = '/hooks/pipelines/'

export interface HooksOptions {
  readonly sources: Sources
  readonly intake: Pick<RecordIntake, 'receive'>
  readonly bodies: Pick<BodyReader, 'read'>
  /** `X-<ServiceName>-Event` and `-Token` are taken beside `X-Gitlab-…`. */
  readonly serviceName: string
  readonly clock: Clock
  readonly log: Log
  readonly trustedProxies?: TrustedProxies
  readonly limits?: Partial<HookLimits>
}

export interface HookLimits {
  /** Of one body. */
  readonly bodyBytes: number
  /** The limits on containers, values and levels of one body. */
  readonly json: JsonLimits
  /** The highest number of jobs of one pipeline, bridges included. */
  readonly jobs: number
  /** Of all bodies at the same time, from their first byte until they are taken. */
  readonly allBodiesBytes: number
  /** Of those of one source: who can only sign is known at the end of the body, and until then anybody could be it. */
  readonly sourceBodiesBytes: number
  /** Wrong credentials for one source from one address, beyond which all of that address are refused in that minute. */
  readonly failuresPerMinute: number
}

/** A forge sends at most 25 MB, spec/rest-part3-details.md 1.10. */
export const defaultHookLimits: HookLimits = {
  bodyBytes: 25 * 1024 * 1024,
  json: recordJsonLimits,
  jobs: 20_000,
  allBodiesBytes: 128 * 1024 * 1024,
  sourceBodiesBytes: 64 * 1024 * 1024,
  failuresPerMinute: 30,
}

/** Events of the forge that may hold a record, in lower case. Job hooks of its first versions are called build hooks. */
const recordEvents = ['pipeline hook', 'job hook', 'build hook', 'system hook']

interface Accepted {
  readonly source: Source
  /** Throws what a wrong credential is answered with. */
  readonly refuse: (reason: CredentialRefusal) => never
}

/**
 * Takes the pipeline and job hooks of forges outside the core: `POST /hooks/pipelines/:source`.
 *
 * Order of checks: source (404), too many wrong credentials before (429), secret token and time of the signature (401), size
 * and coding of the body (413, 415), signature (401), event, record (400). 202 says that what is to be kept is kept for good.
 *
 * @see spec/pipeline-telemetry.md 1.1, 1.2, 2.6; spec/rest-part3-details.md 1.10
 */
export function hooksListener(options: HooksOptions): RequestListener {
  const limits = { ...defaultHookLimits, ...options.limits }
  const eventHeaders = ownAndForeign(options, 'event')
  let heldBytes = 0
  const heldOf = new Map<Source, number>()

  async function handle({ raw }: RouteRequest, { source, refuse }: Accepted): Promise<Reply> {
    requireUncompressed(raw)
    let ownBytes = 0
    const hold = (bytes: number): void => {
      const ofSource = (heldOf.get(source) ?? 0) + bytes
      if (heldBytes + bytes > limits.allBodiesBytes || ofSource > limits.sourceBodiesBytes) throw overloaded()
      heldBytes += bytes
      heldOf.set(source, ofSource)
      ownBytes += bytes
    }
    try {
      const scanner = new JsonScanner(limits.json)
      const bytes = await readBytes(raw, limits.bodyBytes, (chunk) => {
        hold(chunk.length)
        scanner.write(chunk)
      })
      const refusal = refusalOfBody(source.credentials, raw.headers, bytes)
      if (refusal !== undefined) refuse(refusal)
      // Checked after the signature, so that a caller who cannot sign learns nothing about the body.
      const excess = scanner.exceeded
      if (excess !== undefined) {
        throw new RequestProblem({ kind: 'json_beyond_limit', limit: excess, most: limits.json[excess] })
      }
      const event = eventHeaders.map((name) => raw.headers[name]?.toString()).find((value) => value !== undefined)
      return await take(options, source, event?.trim().toLowerCase(), bytes, limits.jobs)
    } finally {
      heldBytes -= ownBytes
      heldOf.set(source, (heldOf.get(source) ?? 0) - ownBytes)
    }
  }

  const route = { method: 'POST', path: `${HOOKS_PATH}:source`, access: undefined, handle } as const
  return serveRoutes(guarded([route], entrance(options, limits.failuresPerMinute)), {
    renderError,
    headers: apiHeaders,
    log: options.log,
    takesTrailingSlash: true,
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
  })
}

/** Names in lower case, of which the first counts most. */
const ownAndForeign = ({ serviceName }: HooksOptions, what: 'event' | 'token'): string[] => [
  `x-${serviceName.toLowerCase()}-${what}`,
  `x-gitlab-${what}`,
]

/** What is looked at before a body is read. */
function entrance(options: HooksOptions, failuresPerMinute: number): (incoming: Incoming) => Accepted {
  const { sources, clock, log } = options
  const failures = new FailureLimit(failuresPerMinute)
  const tokenHeaders = ownAndForeign(options, 'token')
  return (incoming) => {
    const source = sources.get(incoming.path.slice(HOOKS_PATH.length).replace(/\/$/, ''))
    if (source === undefined) throw new HookRefusal(404)
    const key = `${source.name} ${subscriberOf(incoming.source)}`
    const nowMs = clock.nowMs()
    const secondsLeft = failures.secondsLeft(key, nowMs)
    if (secondsLeft > 0) throw new HookRefusal(429, { 'Retry-After': String(secondsLeft) })

    const refuse = (reason: CredentialRefusal): never => {
      const fields = { event: 'hooks.credential_refused', source: source.name, address: incoming.source, reason }
      // The further ones of that minute are told of by the answers.
      if (failures.count(key, nowMs)) log.warn(fields, 'A hook showed no right credential')
      throw new HookRefusal(401)
    }
    const refusal = refusalOfHead(source.credentials, incoming.raw.headers, tokenHeaders, nowMs)
    return refusal === undefined ? { source, refuse } : refuse(refusal)
  }
}

/** @param event as the header names it, in lower case */
async function take(
  { intake, bodies, clock }: HooksOptions,
  source: Source,
  event: string | undefined,
  bytes: Buffer,
  maxJobs: number,
): Promise<Reply> {
  if (event !== undefined && !recordEvents.includes(event)) return ignored
  const receivedAtNs = clock.nowNs()
  const body = await recordIn(event, () => bodies.read(bytes, { receivedAtNs, maxJobs }))
  if (body === undefined) return ignored
  const { signals } = source
  const scope = sourceScope(source)
  const plan = async () => ({ signals, destination: scope })
  return replyTo(await intake.receive({ scope, body, receivedAtNs, plan }))
}

/** A webhook may have more triggers than ours; refusals would make its forge switch it off. */
const ignored: Reply = {
  status: 202,
  json: { result: 'ignored', reason: 'only pipeline and job hooks are kept' },
}

/**
 * Returns the record or job event; `undefined` for hooks about other events.
 *
 * @throws RecordError
 */
async function recordIn(
  event: string | undefined,
  read: () => Promise<ReceivedBody>,
): Promise<ReceivedBody | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof OtherHookError) return undefined
    const isOtherSystemHook = error instanceof RecordError && error.path === '' && error.line === undefined
    if (isOtherSystemHook && event === 'system hook') return undefined
    throw error
  }
}

/** Warnings that an answer tells of; a forge shows it to whoever set up the webhook. */
const WARNINGS_TOLD = 10

function replyTo(taken: Taken): Reply {
  const warnings = taken.warnings.items
    .slice(0, WARNINGS_TOLD)
    .map(({ path, reason }) => (path === '' ? reason : `${path}: ${reason}`))
  const what = taken.kind === 'enqueued' ? { signals: taken.signals } : { reason: taken.reason }
  return { status: 202, json: { result: taken.kind, ...what, ...(warnings.length > 0 && { warnings }) } }
}
