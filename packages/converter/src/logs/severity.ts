import { findEntry } from '@penstock/forges/record'

export interface Severity {
  /** logs.v1.SeverityNumber */
  readonly number: number
  readonly text: string
}

const DEBUG: Severity = { number: 5, text: 'DEBUG' }
const INFO: Severity = { number: 9, text: 'INFO' }
const WARN: Severity = { number: 13, text: 'WARN' }
const ERROR: Severity = { number: 17, text: 'ERROR' }

/** GitLab status → log severity. Statuses that are not listed have severity DEBUG. */
export const severityByStatus: Readonly<Record<string, Severity>> = {
  success: INFO,
  failed: ERROR,
  canceled: WARN,
  canceling: WARN,
}

export function toSeverity(status: string, forgiven = false): Severity {
  const severity = findEntry(severityByStatus, status) ?? DEBUG
  return severity === ERROR && forgiven ? WARN : severity
}
