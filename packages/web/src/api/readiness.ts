import { getJson } from './client.ts'

/** Who would be refused if ingest were enforced. */
export interface ReadinessSummary {
  readonly ready: boolean
  /** How long the requests were observed. */
  readonly window_seconds: number
  readonly requests: number
  readonly would_reject: number
  readonly clients: readonly unknown[]
}

/** Whether ingest is enforced. */
export interface EnforcementSummary {
  readonly mode: 'off' | 'report' | 'warn' | 'enforce'
}

const PATH = '/api/v1/ingest_auth'

/** Returns the report on the clients that enforcement would refuse. */
export function getReadiness(signal?: AbortSignal): Promise<ReadinessSummary> {
  return getJson<ReadinessSummary>(`${PATH}/readiness`, {}, signal)
}

/** Returns whether ingest is enforced. */
export function getEnforcement(signal?: AbortSignal): Promise<EnforcementSummary> {
  return getJson<EnforcementSummary>(`${PATH}/state`, {}, signal)
}
