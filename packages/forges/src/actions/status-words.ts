import { type Fields, requiredText, text } from '../body/fields.ts'
import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** The states of runs, jobs and steps that have not finished. A run that `waits` waits for the approval of a deployment. */
const statusByState: Readonly<Record<string, KnownStatus>> = {
  requested: 'created',
  queued: 'pending',
  pending: 'waiting_for_resource',
  waiting: 'manual',
  in_progress: 'running',
}

/** The conclusions of finished runs, jobs and steps. A run with the conclusion `action_required` waits for a person. */
export const actionsConclusions: Readonly<Record<string, KnownStatus>> = {
  success: 'success',
  neutral: 'success',
  failure: 'failed',
  timed_out: 'failed',
  startup_failure: 'failed',
  cancelled: 'canceled',
  stale: 'canceled',
  skipped: 'skipped',
  action_required: 'manual',
}

/** The conclusions that are reasons of a failure. */
const failureReasons: ReadonlySet<string> = new Set(['timed_out', 'startup_failure'])

const COMPLETED = 'completed'

/** The canonical status of a run, a job or a step, and the forge's own word for it. */
export interface Outcome {
  readonly status: string
  readonly word: string
  readonly failureReason: string | undefined
}

/** Reads `status` and `conclusion`. An unknown word is kept. */
export const readOutcome = (fields: Fields): Outcome =>
  toOutcome(requiredText(fields, 'status'), text(fields, 'conclusion'))

/** Returns the outcome for a state and a conclusion, of which only finished things have one. */
export function toOutcome(givenState: string, givenConclusion: string | undefined): Outcome {
  const state = givenState.toLowerCase()
  const conclusion = state === COMPLETED ? givenConclusion?.toLowerCase() : undefined
  const word = conclusion ?? state
  const table = conclusion === undefined ? statusByState : actionsConclusions
  return {
    status: findEntry(table, word) ?? word,
    word,
    failureReason: failureReasons.has(word) ? word : undefined,
  }
}
