import type { EnforcementState, Readiness } from './answers.ts'
import { getJson, getTagged, type Tagged } from './client.ts'

const PATH = '/api/v1/ingest_auth'

/** Returns the report on the clients that enforcement would refuse, of the last 24 hours unless `window` is given. */
export function getReadiness(window?: string, signal?: AbortSignal): Promise<Readiness> {
  return getJson<Readiness>(`${PATH}/readiness`, { window }, signal)
}

/** Returns whether ingest is enforced. */
export function getState(signal?: AbortSignal): Promise<Tagged<EnforcementState>> {
  return getTagged<EnforcementState>(`${PATH}/state`, signal)
}
