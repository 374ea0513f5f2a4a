import { rfc3339 } from '../contract/rfc3339.ts'
import type { TokenSummary } from '../tokens/token-summaries.ts'
import type { Client, ClientStatsReport } from './client-stats.ts'
import type { WrongPath } from './wrong-paths.ts'

/** The report as JSON, with the processes that it is about. */
export interface ReadinessReport extends ObservedReadiness {
  /** How many processes have reported, and how many use the same store: those of other gateways have reports of their own. */
  readonly processes: { readonly reported: number; readonly live: number }
}

/** The clients that enforcement would refuse, as JSON. Times are RFC 3339 in UTC. */
interface ObservedReadiness {
  /** True if nothing would have been refused in the window and a valid token lasts another 7 days. */
  readonly ready: boolean
  /** The requested window, at most 24 hours. */
  readonly window_seconds: number
  /** The beginning of the window, or the start of the gateway if that is later: the report is not stored. */
  readonly observed_since: string
  readonly requests: number
  readonly would_reject: number
  /** At most 100 clients, those with the most requests first. */
  readonly clients: readonly ReadinessClient[]
  /** Requests with a valid token on a path that accepts no telemetry, those with the most requests first. They are refused in every mode. */
  readonly wrong_paths: readonly WrongPathRow[]
  /** Valid tokens that were not used in the window. */
  readonly unused_tokens: readonly {
    readonly id: string
    readonly name: string
    readonly last_used_at: string | null
  }[]
  /** Valid tokens that expire within 7 days, earliest first. */
  readonly expiring_tokens: readonly { readonly id: string; readonly name: string; readonly expires_at: string }[]
  /** The reasons why it is not ready; empty if it is. */
  readonly blockers: readonly Blocker[]
}

interface ReadinessClient {
  readonly network: string
  readonly user_agent: string
  readonly signal: string
  readonly transport: string
  /** The name in the last body that was sampled. Other requests of the client may have other names. */
  readonly service_name: string | null
  /** The distinct names in the bodies that were sampled, the one of the last sample first; at most 10. */
  readonly service_names: readonly string[]
  readonly reason: string
  readonly token_id: string | null
  readonly first_seen: string
  readonly last_seen: string
  /** The requests of the last 24 hours, independent of the window. */
  readonly count: number
}

export interface WrongPathRow {
  readonly network: string
  readonly user_agent: string
  readonly transport: string
  /** The path that was sent, without its query; empty if it contains a secret. */
  readonly path: string
  /** The path to send to. All paths, if the wrong one does not name a signal. */
  readonly right_paths: readonly string[]
  readonly token_id: string
  readonly first_seen: string
  readonly last_seen: string
  readonly count: number
}

interface Blocker {
  readonly code: 'would_reject' | 'no_valid_token' | 'valid_tokens_end_soon'
  readonly message: string
}

const DAY_MS = 86_400_000
const EXPIRES_SOON_MS = 7 * DAY_MS
const MINUTE_MS = 60_000
const MAX_CLIENTS = 100

/**
 * Reports what enforcement would have done in the last `windowMs`, and whether it can be enabled without refusing clients.
 *
 * `startedMs` is the time since which all processes that accept telemetry have been running.
 */
export function readinessReport(
  clientStats: ClientStatsReport & { readonly wrongPaths: readonly WrongPath[] },
  tokens: readonly TokenSummary[],
  windowMs: number,
  nowMs: number,
  startedMs = 0,
): ObservedReadiness {
  const windowStartMs = nowMs - Math.min(windowMs, DAY_MS)
  const minutes = clientStats.minutes.filter(({ startMs }) => startMs + MINUTE_MS > windowStartMs)
  const requests = sum(minutes.map((minute) => minute.requests))
  const wouldReject = sum(minutes.map((minute) => minute.wouldReject))
  const valid = tokens.filter(
    ({ disabled, expiresAtMs = Number.POSITIVE_INFINITY }) => !disabled && expiresAtMs > nowMs,
  )
  const expiring = valid.filter(({ expiresAtMs }) => expiresAtMs !== undefined && expiresAtMs < nowMs + EXPIRES_SOON_MS)
  const blockers = findBlockers(wouldReject, valid.length, expiring.length)
  return {
    ready: blockers.length === 0,
    window_seconds: Math.round((nowMs - windowStartMs) / 1_000),
    observed_since: rfc3339(Math.max(windowStartMs, startedMs)),
    requests,
    would_reject: wouldReject,
    clients: clientStats.clients
      .filter(({ lastSeenMs }) => lastSeenMs >= windowStartMs)
      .toSorted((a, b) => b.count - a.count || b.lastSeenMs - a.lastSeenMs)
      .slice(0, MAX_CLIENTS)
      .map(toClientJson),
    wrong_paths: clientStats.wrongPaths
      .filter(({ lastSeenMs }) => lastSeenMs >= windowStartMs)
      .toSorted((a, b) => b.count - a.count || b.lastSeenMs - a.lastSeenMs)
      .slice(0, MAX_CLIENTS)
      .map(toWrongPathJson),
    unused_tokens: valid
      .filter(({ lastUsedAtMs }) => lastUsedAtMs === undefined || lastUsedAtMs < windowStartMs)
      .map(({ id, name, lastUsedAtMs }) => ({
        id,
        name,
        last_used_at: lastUsedAtMs === undefined ? null : rfc3339(lastUsedAtMs),
      })),
    expiring_tokens: expiring
      .toSorted((a, b) => a.expiresAtMs! - b.expiresAtMs!)
      .map(({ id, name, expiresAtMs }) => ({ id, name, expires_at: rfc3339(expiresAtMs!) })),
    blockers,
  }
}

function findBlockers(wouldReject: number, valid: number, expiring: number): Blocker[] {
  const blockers: Blocker[] = []
  if (wouldReject > 0) {
    blockers.push({
      code: 'would_reject',
      message: `Requests that would have been refused in the window: ${wouldReject}.`,
    })
  }
  if (valid === 0) blockers.push({ code: 'no_valid_token', message: 'There is no valid ingest token.' })
  else if (expiring === valid) {
    blockers.push({ code: 'valid_tokens_end_soon', message: 'Every valid ingest token ends within 7 days.' })
  }
  return blockers
}

function toClientJson(client: Client): ReadinessClient {
  return {
    network: client.network,
    user_agent: client.userAgent,
    signal: client.signal,
    transport: client.transport,
    service_name: client.serviceNames[0] ?? null,
    service_names: client.serviceNames,
    reason: client.reason,
    token_id: client.tokenId ?? null,
    first_seen: rfc3339(client.firstSeenMs),
    last_seen: rfc3339(client.lastSeenMs),
    count: client.count,
  }
}

function toWrongPathJson(row: WrongPath): WrongPathRow {
  return {
    network: row.network,
    user_agent: row.userAgent,
    transport: row.transport,
    path: row.path,
    right_paths: row.rightPaths,
    token_id: row.tokenId,
    first_seen: rfc3339(row.firstSeenMs),
    last_seen: rfc3339(row.lastSeenMs),
    count: row.count,
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
