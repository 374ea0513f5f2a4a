export { findEntry } from './find-entry.ts'
export * from './job-event.ts'
export * from './limits.ts'
export type * from './payload.ts'
export type * from './pipeline-details.ts'
export * from './pipeline-record.ts'
export * from './record-error.ts'
export * from './roots.ts'
export * from './run-id.ts'
export * from './running-job.ts'
export * from './status.ts'
export {
  attemptOfJob,
  attemptOfRun,
  type KnownAttempt,
  type KnownAttempts,
  type KnownJob,
  MAX_UNCOUNTED_ATTEMPTS,
  withUncountedAttempt,
} from './uncounted-attempts.ts'
export type { Warning, Warnings } from './warnings.ts'
